//! Stores that stand between a cache and its store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::watch;

use crate::{
    cache::{
        backend::{
            Answer, Backend, Budget, Change, Finder, Leased, Question, Request, Seen, Settle, Stored,
            Unavailable,
        },
        numbers::{Group, Known},
        token::Token,
    },
    sync::Mutex,
};

/// Something that may be closed for a while.
pub(super) struct Gate(watch::Sender<bool>);

impl Gate {
    fn open() -> Self {
        Self(watch::Sender::new(true))
    }

    pub(super) fn close(&self) {
        self.0.send_replace(false);
    }

    pub(super) fn reopen(&self) {
        self.0.send_replace(true);
    }

    async fn pass(&self) {
        self.0.subscribe().wait_for(|open| *open).await.expect("the gate outlives who passes");
    }
}

/// Holds what is asked, or what is answered, while a gate is closed.
pub(super) struct Gated {
    store: Arc<dyn Backend>,
    leases: AtomicUsize,
    asked: Mutex<Option<Request>>,
    pub(super) lease: Gate,
    pub(super) read: Gate,
    pub(super) settle: Gate,
    pub(super) settled: Gate,
    pub(super) change: Gate,
    pub(super) numbers: Gate,
}

impl Gated {
    pub(super) fn over(store: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self {
            store,
            leases: AtomicUsize::new(0),
            asked: Mutex::default(),
            lease: Gate::open(),
            read: Gate::open(),
            settle: Gate::open(),
            settled: Gate::open(),
            change: Gate::open(),
            numbers: Gate::open(),
        })
    }

    /// How often a lease was asked for.
    pub(super) fn leases(&self) -> usize {
        self.leases.load(SeqCst)
    }

    /// How a lease was asked for last.
    pub(super) fn asked(&self) -> Option<Request> {
        self.asked.lock().clone()
    }
}

impl Backend for Gated {
    fn budget(&self) -> Budget {
        Budget(Duration::MAX)
    }

    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let answer = self.store.read(id, budget).await;
            self.read.pass().await;
            answer
        })
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased> {
        self.leases.fetch_add(1, SeqCst);
        *self.asked.lock() = Some(request.clone());
        Box::pin(async move {
            let answer = self.store.lease(id, request, budget).await;
            self.lease.pass().await;
            answer
        })
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        Box::pin(async move {
            self.settle.pass().await;
            let answer = self.store.settle(id, token, step).await;
            self.settled.pass().await;
            answer
        })
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
        Box::pin(async move {
            self.change.pass().await;
            self.store.change(id, change).await
        })
    }

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        self.store.inspect(id)
    }

    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known> {
        Box::pin(async move {
            let answer = self.store.numbers(question, budget).await;
            self.numbers.pass().await;
            answer
        })
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        Box::pin(async move {
            self.change.pass().await;
            self.store.raise(group, own).await
        })
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        self.store.find(finder)
    }

    fn wake_name(&self, id: &str) -> String {
        self.store.wake_name(id)
    }
}

/// Takes its time for everything, on the way there and on the way back.
pub(super) struct Slow {
    store: Arc<dyn Backend>,
    dice: Mutex<StdRng>,
}

impl Slow {
    pub(super) fn over(store: Arc<dyn Backend>, seed: u64) -> Arc<dyn Backend> {
        Arc::new(Self { store, dice: Mutex::new(StdRng::seed_from_u64(seed)) })
    }

    async fn around<T>(&self, asked: Answer<'_, T>) -> Result<T, Unavailable> {
        self.dawdle().await;
        let answer = asked.await;
        self.dawdle().await;
        answer
    }

    async fn dawdle(&self) {
        let turns = self.dice.lock().random_range(0..8);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

impl Backend for Slow {
    fn budget(&self) -> Budget {
        Budget(Duration::MAX)
    }

    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        Box::pin(self.around(Box::pin(async move { self.store.read(id, budget).await })))
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased> {
        Box::pin(self.around(Box::pin(async move { self.store.lease(id, request, budget).await })))
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        Box::pin(self.around(Box::pin(async move { self.store.settle(id, token, step).await })))
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
        Box::pin(self.around(Box::pin(async move { self.store.change(id, change).await })))
    }

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        Box::pin(self.around(self.store.inspect(id)))
    }

    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known> {
        Box::pin(self.around(Box::pin(async move { self.store.numbers(question, budget).await })))
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        Box::pin(self.around(Box::pin(async move { self.store.raise(group, own).await })))
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        self.store.find(finder)
    }

    fn wake_name(&self, id: &str) -> String {
        self.store.wake_name(id)
    }
}

/// Cannot be asked for anything.
pub(super) struct Gone;

impl Backend for Gone {
    fn budget(&self) -> Budget {
        Budget(Duration::MAX)
    }

    fn read<'a>(&'a self, _: &'a str, _: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn lease<'a>(&'a self, _: &'a str, _: Request, _: &'a mut Budget) -> Answer<'a, Leased> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn settle<'a>(&'a self, _: &'a str, _: Token, _: Settle) -> Answer<'a, bool> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn change<'a>(&'a self, _: &'a str, _: Change) -> Answer<'a, ()> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn inspect<'a>(&'a self, _: &'a str) -> Answer<'a, Seen> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn numbers<'a>(&'a self, _: Question<'a>, _: &'a mut Budget) -> Answer<'a, Known> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn raise<'a>(&'a self, _: &'a Group, _: u64) -> Answer<'a, u64> {
        Box::pin(std::future::ready(Err(Unavailable)))
    }

    fn find<'a>(&'a self, _: &'a dyn Finder) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    fn wake_name(&self, id: &str) -> String {
        id.into()
    }
}

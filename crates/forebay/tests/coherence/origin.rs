//! Where values come from: counts the loads, and how many of them run at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::cache::{Cache, Load, LoadError};
use futures::future::BoxFuture;
use tokio::{sync::watch, task::JoinHandle};

use crate::rig::CLOCK;

/// What a caller that loads gets.
pub(crate) type Answer = Result<Arc<String>, LoadError<String>>;

/// Counts loads, each of which takes a while.
#[derive(Clone)]
pub(crate) struct Origin {
    open: watch::Sender<bool>,
    calls: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    takes: Duration,
}

impl Origin {
    /// Each load takes so many milliseconds.
    pub(crate) fn taking(ms: u64) -> Self {
        Self {
            open: watch::Sender::new(true),
            calls: Arc::default(),
            running: Arc::default(),
            most: Arc::default(),
            takes: Duration::from_millis(ms),
        }
    }

    /// Loads take no time.
    pub(crate) fn ready() -> Self {
        Self::taking(0)
    }

    /// Loads wait until they are let go.
    pub(crate) fn paused() -> Self {
        let origin = Self::taking(0);
        origin.open.send_replace(false);
        origin
    }

    pub(crate) fn let_go(&self) {
        self.open.send_replace(true);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }

    /// How many loads ran at the same time at most.
    pub(crate) fn most(&self) -> usize {
        self.most.load(SeqCst)
    }

    /// Starts a caller that loads `answer` for `id`.
    pub(crate) fn call(
        &self,
        cache: &Cache<String>,
        id: &str,
        answer: Result<&str, &str>,
    ) -> JoinHandle<Answer> {
        let (cache, id, loader) = (cache.clone(), id.to_owned(), self.answers(answer));
        tokio::spawn(async move { cache.get_or_load(id, loader).await })
    }

    /// A loader that brings `answer`.
    pub(crate) fn answers(
        &self,
        answer: Result<&str, &str>,
    ) -> impl FnOnce(Load<String>) -> BoxFuture<'static, Result<String, String>> + Send + 'static {
        let (origin, answer) = (self.clone(), answer.map(str::to_owned).map_err(str::to_owned));
        move |_| Box::pin(async move { origin.work(answer).await })
    }

    async fn work<T>(&self, answer: T) -> T {
        let _busy = Busy::of(self);
        CLOCK.sleep(self.takes).await;
        self.open.subscribe().wait_for(|open| *open).await.expect("the origin has the sender");
        answer
    }
}

/// Counts one load that runs, until it ends in whatever way.
struct Busy<'a>(&'a Origin);

impl<'a> Busy<'a> {
    fn of(origin: &'a Origin) -> Self {
        origin.calls.fetch_add(1, SeqCst);
        origin.most.fetch_max(origin.running.fetch_add(1, SeqCst) + 1, SeqCst);
        Self(origin)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, SeqCst);
    }
}

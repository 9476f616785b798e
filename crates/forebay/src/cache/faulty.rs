//! A memory store that can be out of reach, for tests of what a service does then.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::sync::watch;

use super::{
    backend::{
        Answer, Backend, Budget, Change, Finder, Leased, Question, Request, Seen, Settle, Stored, Unavailable,
    },
    deferred::Distant,
    memory::MemoryBackend,
    numbers::{Group, Known, Numbers},
    slots::Space,
    token::Token,
};
use crate::clock::Clock;

/// How long a question waits for its answer.
const BUDGET: Duration = Duration::from_millis(50);

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// It refuses every question at once.
    Refuses,
    /// It answers each question so much later; from 50 ms on, nobody waits for that.
    Delays(Duration),
    /// It does not answer, and does nothing.
    Hangs,
    /// It does what it is asked, and the answer is lost.
    LosesAnswers,
}

/// Sets what is wrong with the memory store of a `Forebay`; its clones do so together.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::{convert::Infallible, time::Duration};
/// use forebay::{Forebay, cache::Invalidated, testing::{Fault, Faults}};
///
/// let faults = Faults::default();
/// let forebay = Forebay::builder("shop").memory().faults(faults.clone()).build().await?;
/// let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(60)).build()?;
///
/// faults.set(Fault::Refuses);
/// assert_eq!(*prices.get_or_load("p-001", async |_| Ok::<_, Infallible>(12)).await?, 12);
/// assert_eq!(prices.invalidate("p-001").await, Invalidated::Deferred);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<watch::Sender<Fault>>);

impl Faults {
    /// From now on, this is wrong.
    pub fn set(&self, fault: Fault) {
        self.0.send_replace(fault);
    }

    fn now(&self) -> Fault {
        *self.0.borrow()
    }
}

/// One space of a memory store that can be out of reach.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) store: MemoryBackend,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) faults: Faults,
    pub(crate) clock: Clock,
}

impl Faulty {
    async fn around<T>(&self, budget: Duration, question: Answer<'_, T>) -> Result<T, Unavailable> {
        match self.faults.now() {
            Fault::None => return question.await,
            Fault::Refuses => return Err(Unavailable),
            Fault::Delays(span) if span < budget => {
                self.clock.sleep(span).await;
                return question.await;
            }
            Fault::LosesAnswers => drop(question.await),
            Fault::Delays(_) | Fault::Hangs => {}
        }
        self.clock.sleep(budget).await;
        Err(Unavailable)
    }

    async fn spend<T>(&self, budget: &mut Budget, question: Answer<'_, T>) -> Result<T, Unavailable> {
        let began = self.clock.now();
        let answer = self.around(budget.0, question).await;
        budget.0 = budget.0.saturating_sub(self.clock.now().since(began));
        answer
    }
}

impl Backend for Faulty {
    fn budget(&self) -> Budget {
        Budget(BUDGET)
    }

    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        Box::pin(async move {
            let mut unlimited = self.store.budget();
            // Asked only when it is let through.
            let question = Box::pin(async move { self.store.read(id, &mut unlimited).await });
            self.spend(budget, question).await
        })
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased> {
        Box::pin(async move {
            let token = request.token;
            let mut unlimited = self.store.budget();
            let question = Box::pin(async move { self.store.lease(id, request, &mut unlimited).await });
            let leased = self.spend(budget, question).await;
            if leased.is_err() {
                // Taken back: it may have been granted.
                self.store.settle(id, token, Settle::Release).await?;
            }
            leased
        })
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        let question = Box::pin(async move { self.store.settle(id, token, step).await });
        Box::pin(self.around(BUDGET, question))
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
        let question = Box::pin(async move { self.store.change(id, change).await });
        Box::pin(self.around(BUDGET, question))
    }

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        let question = Box::pin(async move { self.store.inspect(id).await });
        Box::pin(self.around(BUDGET, question))
    }

    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known> {
        Box::pin(async move {
            let mut unlimited = self.store.budget();
            let question = Box::pin(async move { self.store.numbers(question, &mut unlimited).await });
            self.spend(budget, question).await
        })
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        let question = Box::pin(async move { self.store.raise(group, own).await });
        Box::pin(self.around(BUDGET, question))
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        let question = Box::pin(async move { Ok(self.store.find(finder).await) });
        Box::pin(async move { self.around(BUDGET, question).await.unwrap_or(false) })
    }

    fn wake_name(&self, id: &str) -> String {
        self.store.wake_name(id)
    }
}

impl Distant for Faulty {
    fn space(&self) -> Space {
        self.store.space
    }

    fn held_numbers(&self) -> &Numbers {
        &self.numbers
    }
}

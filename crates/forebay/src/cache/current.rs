//! Whether what the store has is still current: no tag of it, nor the whole space, was invalidated since its load began.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, Shared, WeakShared};

use super::{
    backend::{Answer, Backend, Budget, Leased, Purpose, Question, Unavailable},
    inner::Inner,
    numbers::{Judgement, Known, Numbers, Stamp},
    options::Life,
};
use crate::sync::Mutex;

/// What a load begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// The number of the space.
    pub(crate) number: u64,
    /// Whether the stale value that the load is given was current by then.
    pub(crate) base_is_current: bool,
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Whether an entry that was read just now is current. The store is asked where this process does not know.
    pub(crate) async fn is_current(&self, stamp: &Stamp, budget: &mut Budget) -> Result<bool, Unavailable> {
        match self.numbers.judge(stamp) {
            Judgement::Current => Ok(true),
            Judgement::Passed => Ok(false),
            Judgement::Unknown => {
                // Seldom: apart, it makes what reads no larger.
                let known = Box::pin(self.ask_numbers(&stamp.tags, Purpose::Look, budget)).await?;
                Ok(known.admits(stamp) && !self.numbers.have_passed(stamp))
            }
        }
    }

    /// The number for a load that is about to begin, on the grounds of `base` if there is something stale.
    pub(crate) async fn begin(
        &self,
        base: Option<&Stamp>,
        budget: &mut Budget,
    ) -> Result<Beginning, Unavailable> {
        let Some(base) = base else {
            let number = self.beginnings.number(&self.backend, &self.numbers).await?;
            return Ok(Beginning { number, base_is_current: true });
        };
        let known = self.ask_numbers(&base.tags, Purpose::Load, budget).await?;
        let base_is_current = known.admits(base) && !self.numbers.have_passed(base);
        Ok(Beginning { number: known.now.ok_or(Unavailable)?, base_is_current })
    }

    /// Sees to it that an entry, once stored, has numbers to be judged by for as long as it lives. Answers whether it
    /// still is current.
    pub(crate) async fn may_fill(&self, stamp: &Stamp, life: Life) -> Result<bool, Unavailable> {
        if stamp.tags.is_empty() && life.total() <= self.options.longest() {
            return Ok(!self.numbers.have_passed(stamp));
        }
        let purpose = Purpose::Fill(life.total());
        let known = self.ask_numbers(&stamp.tags, purpose, &mut self.backend.budget()).await?;
        Ok(known.admits(stamp) && !self.numbers.have_passed(stamp))
    }

    async fn ask_numbers(
        &self,
        tags: &[Box<str>],
        purpose: Purpose,
        budget: &mut Budget,
    ) -> Result<Known, Unavailable> {
        ask(&*self.backend, &self.numbers, Question { tags, purpose }, budget).await
    }
}

/// Asks for the lease, and meanwhile for what a load begins with: it begins once both have answered. Who asks `again` is
/// likely to be told to wait, and asks for no more before that.
pub(crate) async fn begin_with(
    begin: impl Future<Output = Result<Beginning, Unavailable>>,
    mut lease: Answer<'_, Leased>,
    again: bool,
) -> (Result<Beginning, Unavailable>, Result<Leased, Unavailable>) {
    tokio::pin!(begin);
    let mut begun = None;
    let asked = loop {
        tokio::select! {
            biased;
            answer = &mut begin, if !again && begun.is_none() => begun = Some(answer),
            answer = &mut lease => break answer,
        }
    };
    let begun = match begun {
        None if matches!(asked, Ok(Leased::Granted { .. })) => begin.await,
        begun => begun.unwrap_or(Err(Unavailable)),
    };
    (begun, asked)
}

async fn ask(
    backend: &dyn Backend,
    numbers: &Numbers,
    question: Question<'_>,
    budget: &mut Budget,
) -> Result<Known, Unavailable> {
    let asked = numbers.ask();
    let known = backend.numbers(question, budget).await?;
    numbers.learn(asked, question.tags, &known);
    Ok(known)
}

type Asking = BoxFuture<'static, Result<u64, Unavailable>>;

/// Asks for the numbers of loads: those that begin while one is asked for share the answer.
#[derive(Default)]
pub(crate) struct Beginnings(Mutex<Option<WeakShared<Asking>>>);

impl Beginnings {
    async fn number(&self, backend: &Arc<dyn Backend>, numbers: &Arc<Numbers>) -> Result<u64, Unavailable> {
        // What is known by now is a number of the space too: what was answered before that is no reason to be older.
        let seen = numbers.seen();
        let asking = self.join(backend, numbers);
        Ok(asking.await?.max(seen))
    }

    fn join(&self, backend: &Arc<dyn Backend>, numbers: &Arc<Numbers>) -> Shared<Asking> {
        let mut running = self.0.lock();
        let joined = running.as_ref().and_then(WeakShared::upgrade).filter(|asking| asking.peek().is_none());
        if let Some(asking) = joined {
            return asking;
        }
        let (backend, numbers) = (backend.clone(), numbers.clone());
        let ask: Asking = Box::pin(async move {
            let question = Question { tags: &[], purpose: Purpose::Load };
            // It is asked for all who join: what is left to the first of them is no measure.
            let budget = &mut backend.budget();
            ask(&*backend, &numbers, question, budget).await?.now.ok_or(Unavailable)
        });
        let asking = ask.shared();
        *running = asking.downgrade();
        asking
    }
}

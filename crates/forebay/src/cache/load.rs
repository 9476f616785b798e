//! Running a loader: in a task of its own, with a permit, a hard end and a lease that is kept alive.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{
    breaker::Breaker,
    bulkhead::{Bulkhead, Parent, Permit},
    entry::{Load, Loaded},
    error::Failure,
    grant::Grant,
    leader::{Goal, Leader},
    numbers::Stamp,
    seal::Opened,
    verdict::{Answer, Outcome},
};
use crate::{
    observe::{Event, LoadOutcome},
    sync::atomic::Ordering::Relaxed,
};

/// Where a value goes that was loaded without a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alone {
    /// To those who wait.
    Nowhere,
    /// Into the memory of this process too.
    Locally,
}

/// How a load ended.
enum Ended<V> {
    Value(Loaded<V>),
    Absent,
    Failed(Failure),
    /// Not begun: something has overtaken the flight while it waited.
    Overtaken,
}

impl<V> Goal<V> {
    /// Tells those who would load together with this that somebody else loads.
    pub(super) fn stand_aside(&mut self) {
        if let Self::Load { loader, .. } = self {
            loader.stand_aside();
        }
    }
}

impl<V: Send + Sync + 'static> Leader<V> {
    /// Loads as the holder of the lease, and fills.
    pub(super) async fn load_under(&mut self, mut grant: Grant) -> Outcome<V> {
        let inner = self.inner.clone();
        let began = inner.now();
        let (running, load) = oneshot::channel();
        grant.outlive(load);
        let ended = self.load_while_held(&mut grant, running).await;
        match ended {
            Ended::Value(loaded) => self.fill(grant, loaded, inner.now().since(began)).await,
            Ended::Absent => self.fill_absence(grant).await,
            Ended::Failed(failure) => self.leave_note(grant, failure).await,
            Ended::Overtaken => {
                drop(grant);
                self.follow().await
            }
        }
    }

    /// Loads without a lease, since nobody can be asked for one, or since it would not help.
    pub(super) async fn load_alone(&mut self, store: Alone) -> Outcome<V> {
        self.flight.helm.left_by_pilot().await;
        let inner = self.inner.clone();
        let number = inner.numbers.highest();
        let began = inner.now();
        let loaded = match self.load(Some(&inner.shared.outage), oneshot::channel().0).await {
            Ended::Value(loaded) => loaded,
            Ended::Absent => {
                self.hand_out_answer(Answer::Absent);
                return self.unasked(&Stamp { number, ..Stamp::default() });
            }
            Ended::Failed(failure) => return self.fail(failure).await,
            Ended::Overtaken => return self.follow().await,
        };
        let (id, life) = (inner.shared.context.dice.bits(), self.life(&loaded));
        let stamp = Stamp { number, tags: loaded.tags.as_slice().into() };
        let entry = self.hand_out(&loaded, id, life, inner.now().since(began), stamp.clone());
        if let (Alone::Locally, Some(life)) = (store, life) {
            let bytes = usize::try_from(inner.mean_bytes.load(Relaxed)).unwrap_or(usize::MAX);
            let (fresh_for, kept_for) = (life.fresh, life.total());
            let (answer, stamp) = (Answer::Present(entry), stamp.clone());
            let opened = Opened { answer, id, fresh_for, kept_for, bytes, stamp };
            inner.memorize(&self.id.key, &self.flight.fence, &opened);
        }
        self.unasked(&stamp)
    }

    /// Loads while the lease is renewed at every third of its life. A lease that is lost detaches the flight.
    async fn load_while_held(&mut self, grant: &mut Grant, running: oneshot::Sender<()>) -> Ended<V> {
        let (inner, flight, key) = (self.inner.clone(), self.flight.clone(), self.id.key.clone());
        let load = self.load(inner.bulkhead.as_ref(), running);
        tokio::pin!(load);
        let life = grant.life();
        let mut ours = true;
        loop {
            let renewal = async {
                inner.shared.context.clock.sleep(life / 3).await;
                grant.renew(life).await
            };
            tokio::select! {
                biased;
                ended = &mut load => return ended,
                renewed = renewal, if ours => {
                    ours = renewed != Ok(false);
                    if !ours {
                        inner.flights.end(&key, &flight);
                        flight.detach();
                    }
                }
            }
        }
    }

    /// Loads; `running` is dropped when the loader is gone.
    async fn load(&mut self, bulkhead: Option<&Bulkhead>, running: oneshot::Sender<()>) -> Ended<V> {
        self.flight.may_take_long();
        let clock = self.inner.shared.context.clock.clone();
        self.began = None;
        let ended = self.run_loader(bulkhead, running).await;
        let outcome = match &ended {
            Ended::Value(_) => LoadOutcome::Value,
            Ended::Absent => LoadOutcome::Absent,
            Ended::Failed(Failure::TimedOut) => LoadOutcome::TimedOut,
            Ended::Failed(Failure::Panicked) => LoadOutcome::Panicked,
            Ended::Failed(Failure::Overloaded) => LoadOutcome::Overloaded,
            Ended::Failed(Failure::Elsewhere(_)) => LoadOutcome::Refused,
            Ended::Failed(_) => LoadOutcome::Failed,
            Ended::Overtaken => return ended,
        };
        self.report(outcome, self.began.map(|began| clock.reading().saturating_sub(began)));
        ended
    }

    async fn run_loader(&mut self, bulkhead: Option<&Bulkhead>, running: oneshot::Sender<()>) -> Ended<V> {
        let Some(permit) = self.permit(bulkhead).await else { return Ended::Failed(Failure::Overloaded) };
        if !self.flight.is_attached() {
            return Ended::Overtaken;
        }
        // Last, as whom the breaker admits as its probe is to report.
        if let Some(Err(retry_after)) = self.inner.breaker.as_ref().map(Breaker::admit) {
            return Ended::Failed(Failure::Elsewhere(retry_after));
        }
        let Some(Goal::Load { loader, .. }) = self.goal.take() else {
            return Ended::Failed(Failure::Overloaded);
        };
        self.blame = loader.blame();
        let shared = &self.inner.shared;
        let load = Load { id: self.id.given.clone(), stale: self.flight.stale() };
        let scope = Parent { flight: self.flight.id, permitted: permit.is_held() };
        let weight = self.inner.mean_bytes.load(Relaxed);
        let reservation = shared.memory.reserve(weight);
        self.flight.load_begins(self.inner.flights.depart());
        self.began = Some(shared.context.clock.reading());
        let job = shared.context.tasks.spawn_owned(async move {
            let _held = (permit, reservation, running);
            scope.scope(async move { loader.load(load).await }).await
        });
        match shared.context.clock.timeout(self.inner.options.load_timeout, job).await {
            None => Ended::Failed(Failure::TimedOut),
            Some(Err(ended)) if ended.is_panic() => Ended::Failed(Failure::Panicked),
            Some(Err(_)) => Ended::Failed(Failure::Overloaded),
            Some(Ok(Err(error))) => Ended::Failed(Failure::Error(error)),
            Some(Ok(Ok(None))) => Ended::Absent,
            Some(Ok(Ok(Some(loaded)))) => Ended::Value(loaded),
        }
    }

    async fn permit(&mut self, bulkhead: Option<&Bulkhead>) -> Option<Permit> {
        if self.parent.is_some_and(|parent| parent.permitted) {
            return Some(Permit::Lent);
        }
        let Some(bulkhead) = bulkhead else { return Some(Permit::Free) };
        let shared = match &self.goal {
            Some(Goal::Load { loader, .. }) => loader.shares(),
            _ => None,
        };
        let (inner, lenders) = (&self.inner, self.flight.lenders());
        let (context, wait) = (&inner.shared.context, inner.options.wait);
        match shared {
            Some(shared) => shared.enter(bulkhead, context, wait, lenders).await,
            None => bulkhead.enter(context, wait, lenders).await,
        }
    }

    fn report(&self, outcome: LoadOutcome, took: Option<Duration>) {
        let space = self.inner.name.as_str();
        self.inner.record(Event::Load { space, outcome, took });
        match outcome {
            LoadOutcome::Value | LoadOutcome::Absent => self.inner.origin_answered(true),
            LoadOutcome::Failed | LoadOutcome::TimedOut | LoadOutcome::Panicked => {
                if self.blame.is_first() {
                    self.inner.origin_answered(false);
                }
            }
            LoadOutcome::Overloaded | LoadOutcome::Refused => {}
        }
    }
}

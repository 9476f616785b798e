//! Running a loader: in a task of its own, with a permit, a hard end and a lease that is kept alive.

use std::{any::Any, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::{
    backend::{Note, Settle},
    breaker::Breaker,
    bulkhead::{Bulkhead, Parent, Permit},
    caller::{Got, Want},
    entry::{Entry, Load, Loaded, Source},
    error::Failure,
    flight::{Answer, Outcome},
    flights::Arrival,
    grant::Grant,
    inner::Opened,
    leader::{Goal, Leader},
    options::Life,
};
use crate::{
    error::ErrorKind,
    observe::{Event, FillOutcome, LoadOutcome},
    sync::atomic::Ordering::Relaxed,
};

/// A loader whose types are forgotten: `None` means that there is no such value.
pub(crate) type Loader<V> = Box<dyn FnOnce(Load<V>) -> Loading<V> + Send>;

/// A loader at work.
pub(crate) type Loading<V> = BoxFuture<'static, Result<Option<Loaded<V>>, Arc<dyn Any + Send + Sync>>>;

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
        let inner = self.inner.clone();
        let loaded = match self.load(Some(&inner.shared.outage), oneshot::channel().0).await {
            Ended::Value(loaded) => loaded,
            Ended::Absent => {
                self.flight.loaded(Answer::Absent);
                return self.unasked();
            }
            Ended::Failed(failure) => return self.fail(failure).await,
            Ended::Overtaken => return self.follow().await,
        };
        let (id, life) = (inner.shared.context.dice.bits(), self.life(&loaded));
        let entry = self.hand_out(&loaded, id, life);
        if let (Alone::Locally, Some(life)) = (store, life) {
            let bytes = usize::try_from(inner.mean.load(Relaxed)).unwrap_or(usize::MAX);
            let opened = Opened { answer: Answer::Present(entry), id, fresh_for: life.fresh, bytes };
            inner.memorize(&self.id.key, &self.flight.fence, &opened);
        }
        self.unasked()
    }

    /// Loads while the lease is renewed at every third of its life. A lease that is lost detaches the flight.
    async fn load_while_held(&mut self, grant: &mut Grant, running: oneshot::Sender<()>) -> Ended<V> {
        let (inner, flight, key) = (self.inner.clone(), self.flight.clone(), self.id.key.clone());
        let load = self.load(inner.bulkhead.as_ref(), running);
        tokio::pin!(load);
        let life = grant.life();
        let mut ours = true;
        loop {
            tokio::select! {
                biased;
                ended = &mut load => return ended,
                () = inner.shared.context.clock.sleep(life / 3), if ours => {
                    ours = !matches!(grant.renew(life).await, Ok(false));
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
        self.flight.wait();
        let began = self.inner.now();
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
        self.report(outcome, self.inner.now().since(began));
        ended
    }

    async fn run_loader(&mut self, bulkhead: Option<&Bulkhead>, running: oneshot::Sender<()>) -> Ended<V> {
        if let Some(Err(retry_after)) = self.inner.breaker.as_ref().map(Breaker::admit) {
            return Ended::Failed(Failure::Elsewhere(retry_after));
        }
        let Some(permit) = self.permit(bulkhead).await else { return Ended::Failed(Failure::Overloaded) };
        if !self.flight.is_attached() {
            return Ended::Overtaken;
        }
        let Some(Goal::Load { loader, .. }) = self.goal.take() else {
            return Ended::Failed(Failure::Overloaded);
        };
        let shared = &self.inner.shared;
        let load = Load { id: self.id.given.clone(), stale: self.flight.stale() };
        let scope = Parent { flight: self.flight.id, permitted: permit.is_held() };
        let weight = self.inner.mean.load(Relaxed);
        let reservation = shared.memory.reserve(weight);
        self.flight.load(self.inner.flights.depart());
        let job = shared.context.tasks.spawn_owned(async move {
            let _held = (permit, reservation, running);
            scope.scope(async move { loader(load).await }).await
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
        bulkhead.enter(&self.inner.shared.context, self.inner.options.wait, &self.flight.lenders).await
    }

    fn report(&self, outcome: LoadOutcome, took: Duration) {
        let space = self.inner.name.as_str();
        self.inner.record(Event::Load { space, outcome, took });
        let Some(breaker) = &self.inner.breaker else { return };
        let opened = match outcome {
            LoadOutcome::Value | LoadOutcome::Absent => breaker.record(true),
            LoadOutcome::Failed | LoadOutcome::TimedOut | LoadOutcome::Panicked => breaker.record(false),
            LoadOutcome::Overloaded | LoadOutcome::Refused => false,
        };
        if opened {
            let pause = self.inner.options.origin_breaker.map_or(Duration::ZERO, |rule| rule.pause);
            self.inner.record(Event::BreakerOpened { space, pause });
        }
    }

    async fn fill(&mut self, grant: Grant, loaded: Loaded<V>, took: Duration) -> Outcome<V> {
        let inner = self.inner.clone();
        let (id, life) = (inner.shared.context.dice.bits(), self.life(&loaded));
        let entry = self.hand_out(&loaded, id, life);
        let Some(life) = life else { return self.do_not_share(grant, FillOutcome::NotStored).await };
        let sealed = match inner.seal(&loaded, life, id, took) {
            Ok(sealed) => sealed,
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                return self.do_not_share(grant, FillOutcome::TooLarge).await;
            }
            Err(error) => {
                tracing::warn!(space = %inner.name, %error, "a loaded value cannot be encoded and is not stored");
                return self.do_not_share(grant, FillOutcome::NotStored).await;
            }
        };
        let bytes = sealed.bytes.len();
        let accepted = self.settle(grant, Settle::Fill { bytes: sealed.bytes, life: life.total() }).await;
        self.filled(accepted, &Opened { answer: Answer::Present(entry), id, fresh_for: life.fresh, bytes })
    }

    async fn fill_absence(&mut self, grant: Grant) -> Outcome<V> {
        self.flight.loaded(Answer::Absent);
        let Some(life) = self.inner.options.absence(None) else {
            let accepted = self.settle(grant, Settle::Discard).await;
            self.inner.shared.memory.remove(self.inner.space, &self.id.key);
            return Outcome::Loaded { accepted };
        };
        let sealed = self.inner.seal_absence(life);
        let bytes = sealed.bytes.len();
        let accepted = self.settle(grant, Settle::Fill { bytes: sealed.bytes, life: life.total() }).await;
        let (id, fresh_for) = (sealed.id, life.fresh);
        self.filled(accepted, &Opened { answer: Answer::Absent, id, fresh_for, bytes })
    }

    fn filled(&self, accepted: Option<Arrival>, opened: &Opened<V>) -> Outcome<V> {
        if accepted.is_some() {
            self.inner.memorize(&self.id.key, &self.flight.fence, opened);
        }
        self.inner.filled(if accepted.is_some() { FillOutcome::Stored } else { FillOutcome::Refused });
        Outcome::Loaded { accepted }
    }

    /// Ends the lease with `step`. Answers when the step was sent, if it was accepted: who comes later may come
    /// after a change that the store did behind it.
    async fn settle(&mut self, mut grant: Grant, step: Settle) -> Option<Arrival> {
        let sent = self.inner.flights.depart();
        let accepted = grant.settle(step).await.unwrap_or_else(|_| self.is_whole());
        accepted.then_some(sent)
    }

    /// The end of a load that no store was asked about.
    fn unasked(&self) -> Outcome<V> {
        Outcome::Loaded { accepted: self.is_whole().then(|| self.inner.flights.depart()) }
    }

    /// Tells the others that each of them has to load for himself.
    async fn do_not_share(&mut self, grant: Grant, outcome: FillOutcome) -> Outcome<V> {
        self.inner.filled(outcome);
        let note = Settle::Note(Note::Unshared, self.inner.options.failure_for);
        let accepted = self.settle(grant, note).await;
        self.inner.shared.memory.remove(self.inner.space, &self.id.key);
        Outcome::Loaded { accepted }
    }

    async fn leave_note(&mut self, mut grant: Grant, failure: Failure) -> Outcome<V> {
        let outcome = self.fail(failure.clone()).await;
        self.flight.failed(failure.clone());
        let step = match failure {
            Failure::Error(_) | Failure::TimedOut => {
                Settle::Note(Note::Failed, self.inner.options.failure_for)
            }
            // The origin has not failed: the next caller may try at once.
            _ => Settle::Release,
        };
        if grant.settle(step).await.is_err() {
            tracing::debug!(space = %self.inner.name, "the note of a failed load could not be left");
        }
        outcome
    }

    /// Gets the value from the flight that has overtaken this one, for everybody aboard.
    async fn follow(&mut self) -> Outcome<V> {
        let Some(goal) = self.goal.take() else { return Outcome::Failed(Failure::Overloaded) };
        let want = Want { goal, fresh: self.fresh, wait: None };
        let scope =
            Parent { flight: self.flight.id, permitted: self.parent.is_some_and(|parent| parent.permitted) };
        let next: BoxFuture<'_, _> = Box::pin(scope.scope(self.inner.obtain(&self.id.given, want)));
        match next.await {
            Ok(Got::Answer(answer)) => {
                self.flight.loaded(answer);
                Outcome::Loaded { accepted: None }
            }
            Ok(_) => Outcome::Failed(Failure::Overloaded),
            Err(failure) => Outcome::Failed(failure),
        }
    }

    /// Hands a loaded value to those who came before the load.
    fn hand_out(&self, loaded: &Loaded<V>, id: u64, life: Option<Life>) -> Entry<V> {
        let entry = Entry {
            value: loaded.value.clone(),
            age: Duration::ZERO,
            fresh_for: life.map_or(Duration::ZERO, |life| life.fresh),
            source: Source::Loaded,
            validator: loaded.validator.clone(),
            id,
        };
        self.flight.loaded(Answer::Present(entry.clone()));
        entry
    }

    fn life(&self, loaded: &Loaded<V>) -> Option<Life> {
        self.inner.options.life(loaded, &self.inner.shared.context.dice)
    }

    fn is_whole(&self) -> bool {
        self.flight.is_attached() && self.flight.fence.is_whole(&self.inner.shared.epoch)
    }
}

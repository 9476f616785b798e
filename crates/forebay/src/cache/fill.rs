//! What becomes of a load: its value handed out and stored, or the note of its failure.

use std::time::Duration;

use futures::future::BoxFuture;

use super::{
    backend::{Note, Settle, Unavailable},
    bulkhead::Parent,
    caller::{Got, Want},
    entry::{Entry, Loaded, Source},
    error::Failure,
    flights::Arrival,
    grant::Grant,
    leader::Leader,
    numbers::Stamp,
    options::Life,
    seal::{Draft, Opened},
    verdict::{Answer, Outcome},
};
use crate::{error::ErrorKind, observe::FillOutcome};

impl<V: Send + Sync + 'static> Leader<V> {
    pub(super) async fn fill(&mut self, grant: Grant, loaded: Loaded<V>, took: Duration) -> Outcome<V> {
        let inner = self.inner.clone();
        let before = self.flight.stale().map_or(Duration::ZERO, |held| held.load_time);
        let took = inner.pace.note(before, took);
        let (id, life) = (inner.shared.context.dice.bits(), self.life(&loaded));
        let stamp = Stamp { number: grant.number(), tags: loaded.tags.as_slice().into() };
        let entry = self.hand_out(&loaded, id, life, took, stamp.clone());
        let Some(life) = life else { return self.do_not_share(grant, FillOutcome::NotStored, &stamp).await };
        let draft = match inner.draft(&loaded, life, id, took) {
            Ok(draft) => draft,
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                return self.do_not_share(grant, FillOutcome::TooLarge, &stamp).await;
            }
            Err(error) => {
                tracing::warn!(space = %inner.name, %error, "a loaded value cannot be written and is not stored");
                return self.do_not_share(grant, FillOutcome::NotStored, &stamp).await;
            }
        };
        self.store(grant, draft, Answer::Present(entry)).await
    }

    pub(super) async fn fill_absence(&mut self, grant: Grant) -> Outcome<V> {
        self.hand_out_answer(Answer::Absent);
        let Some(life) = self.inner.options.absence(None) else {
            let stamp = Stamp { number: grant.number(), ..Stamp::default() };
            let accepted = self.settle(grant, Settle::Discard, &stamp).await;
            self.inner.forget(&self.id.key);
            return Outcome::Loaded { accepted };
        };
        let draft = self.inner.draft_absence(life);
        self.store(grant, draft, Answer::Absent).await
    }

    async fn store(&mut self, grant: Grant, draft: Draft, answer: Answer<V>) -> Outcome<V> {
        let (id, life, stamp) = (draft.id(), draft.life(), draft.stamp(grant.number()));
        let sealed = self.inner.seal(draft, grant.number());
        let bytes = sealed.bytes.len();
        let accepted = match self.inner.may_fill(&stamp, life).await {
            Ok(true) => self.settle(grant, sealed.into_fill(), &stamp).await,
            // What it would store is passed already; the lease is given back.
            Ok(false) => None,
            Err(Unavailable) => self.sent_if_whole(&stamp),
        };
        let (fresh_for, kept_for) = (life.fresh, life.total());
        self.filled(accepted, &Opened { answer, id, fresh_for, kept_for, bytes, stamp })
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
    async fn settle(&mut self, mut grant: Grant, step: Settle, stamp: &Stamp) -> Option<Arrival> {
        let sent = self.inner.flights.depart();
        let accepted = grant.settle(step).await.unwrap_or_else(|_| self.is_whole());
        // Nor does it serve who comes after its tags, or the space, were invalidated: the store keeps it all the same.
        (accepted && !self.inner.numbers.have_passed(stamp)).then_some(sent)
    }

    /// The end of a load that no store was asked about.
    pub(super) fn unasked(&self, stamp: &Stamp) -> Outcome<V> {
        Outcome::Loaded { accepted: self.sent_if_whole(stamp) }
    }

    fn sent_if_whole(&self, stamp: &Stamp) -> Option<Arrival> {
        let whole = self.is_whole() && !self.inner.numbers.have_passed(stamp);
        whole.then(|| self.inner.flights.depart())
    }

    /// Tells the others that each of them has to load for himself.
    async fn do_not_share(&mut self, grant: Grant, outcome: FillOutcome, stamp: &Stamp) -> Outcome<V> {
        self.inner.filled(outcome);
        let note = Settle::Note(Note::Unshared, self.inner.options.failure_for);
        let accepted = self.settle(grant, note, stamp).await;
        self.inner.forget(&self.id.key);
        Outcome::Loaded { accepted }
    }

    pub(super) async fn leave_note(&mut self, mut grant: Grant, failure: Failure) -> Outcome<V> {
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
    pub(super) async fn follow(&mut self) -> Outcome<V> {
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
    pub(super) fn hand_out(
        &self,
        loaded: &Loaded<V>,
        id: u64,
        life: Option<Life>,
        load_time: Duration,
        stamp: Stamp,
    ) -> Entry<V> {
        let entry = Entry {
            value: loaded.value.clone(),
            age: Duration::ZERO,
            fresh_for: life.map_or(Duration::ZERO, |life| life.fresh),
            source: Source::Loaded,
            validator: loaded.validator.clone(),
            id,
            stamp,
            load_time,
        };
        self.hand_out_answer(Answer::Present(entry.clone()));
        entry
    }

    /// Whoever is handed the answer and then looks into process memory is not to find what was there before,
    /// though the fill is still on its way.
    pub(super) fn hand_out_answer(&self, answer: Answer<V>) {
        self.inner.forget(&self.id.key);
        self.flight.loaded(answer);
    }

    pub(super) fn life(&self, loaded: &Loaded<V>) -> Option<Life> {
        self.inner.life_of_load(&self.id.key, loaded)
    }

    fn is_whole(&self) -> bool {
        self.flight.is_attached() && self.flight.fence.is_whole(&self.inner.numbers.epoch)
    }
}

//! What a flight does, in one go: read, get the lease if that brings nothing, then load and fill.

use std::{sync::Arc, time::Duration};

use super::{
    backend::{Budget, Reject, Stored, Unavailable},
    bulkhead::Parent,
    entry::Entry,
    envelope::Head,
    error::Failure,
    flight::Flight,
    flights::Arrival,
    id::Id,
    inner::Inner,
    loader::{Blame, Loader},
    refresh::Luck,
    seal::Opened,
    verdict::{Answer, Outcome},
};
use crate::observe::Event;

/// What a flight is for.
pub(crate) enum Goal<V> {
    /// The value, by the loader where nobody has it. Without `absence` a remembered absence is a miss.
    Load { loader: Loader<V>, absence: bool },
    /// The value or, for this life, the lease.
    Lease(Duration),
}

/// The way of one flight.
pub(crate) struct Leader<V: Send + Sync + 'static> {
    pub(super) inner: Arc<Inner<V>>,
    pub(super) flight: Arc<Flight<V>>,
    pub(super) id: Id,
    pub(super) parent: Option<Parent>,
    pub(super) goal: Option<Goal<V>>,
    /// Whether nothing out of a level is good enough.
    pub(super) fresh: bool,
    /// Whether this goes on behind the backs of callers who have a stale value.
    pub(super) behind: bool,
    /// The fresh life left at or below which what there is is to be replaced; zero where only its end counts.
    pub(super) ahead: Duration,
    /// Of the caller that has begun this.
    pub(super) luck: Luck,
    /// Of the load, once there is one.
    pub(super) blame: Blame,
    /// The reading at which the loader began, if it did.
    pub(super) began: Option<Duration>,
    /// What is left of the time that the callers give the store.
    pub(super) budget: Budget,
    landed: bool,
}

/// What a read brought.
pub(crate) enum Found<V> {
    Usable(Answer<V>),
    Stale(Entry<V>),
    Unusable(Reject),
}

impl<V: Send + Sync + 'static> Leader<V> {
    pub(crate) fn new(
        inner: Arc<Inner<V>>,
        flight: Arc<Flight<V>>,
        id: Id,
        goal: Goal<V>,
        fresh: bool,
        parent: Option<Parent>,
    ) -> Self {
        let budget = inner.backend.budget();
        Self {
            inner,
            flight,
            id,
            parent,
            goal: Some(goal),
            fresh,
            behind: false,
            ahead: Duration::ZERO,
            luck: Luck::default(),
            blame: Blame::default(),
            began: None,
            budget,
            landed: false,
        }
    }

    /// Has a task run the flight.
    pub(crate) fn spawn(self) {
        let (inner, flight) = (self.inner.clone(), self.flight.clone());
        flight.helm.hand_over(self.run(), &inner.shared.context.tasks);
    }

    /// Has the caller that attends to the flight run it, until somebody else depends on it or it goes on after its read.
    pub(crate) fn attended(self) {
        let (inner, flight) = (self.inner.clone(), self.flight.clone());
        let tasks = &inner.shared.context.tasks;
        flight.helm.begin(Box::pin(self.run()), tasks);
        // A shutdown that began before this flight was there did not see it.
        if tasks.is_stopping() {
            flight.helm.take_over(tasks);
        }
    }

    /// Runs the flight to its end.
    async fn run(mut self) {
        let flight = self.flight.clone();
        let abandoned = async {
            // A pilot that leaves lets go of the helm.
            flight.helm.flown_by_task().await;
            flight.abandoned.notified().await;
        };
        let outcome = tokio::select! {
            biased;
            outcome = self.fly() => outcome,
            () = abandoned => Outcome::Nothing,
        };
        self.land(outcome);
    }

    async fn fly(&mut self) -> Outcome<V> {
        if self.behind {
            return Box::pin(self.acquire(Reject::Nothing)).await;
        }
        if let Some(sent) = self.inner.rules_out(&self.id.given, &mut self.budget).await {
            return Outcome::Filtered { sent };
        }
        if self.fresh {
            return Box::pin(self.acquire(Reject::All)).await;
        }
        let sent = self.inner.flights.depart();
        match self.look().await {
            Err(Unavailable) => Box::pin(self.go_without(sent)).await,
            Ok(Found::Usable(answer)) => self.fly_on(answer, sent).await,
            Ok(Found::Stale(stale)) => self.fly_on_stale(stale, sent).await,
            Ok(Found::Unusable(reject)) => Box::pin(self.acquire(reject)).await,
        }
    }

    async fn look(&mut self) -> Result<Found<V>, Unavailable> {
        match self.inner.backend.read(&self.id.key, &mut self.budget).await? {
            Some(stored) => self.judge(stored).await,
            None => Ok(Found::Unusable(Reject::Nothing)),
        }
    }

    /// Answers; before that, a look-up tries to get the lease of what is due, and a load has that begun.
    async fn fly_on(&mut self, answer: Answer<V>, sent: Arrival) -> Outcome<V> {
        let Answer::Present(entry) = &answer else { return Outcome::Read { answer, sent, waited: false } };
        if let Some(ahead) = self.inner.due(entry, self.luck) {
            self.inner.postpone(&self.id.key, entry.id);
            if !self.loads() {
                self.flight.offer(entry.clone(), sent);
                self.ahead = ahead;
                return Box::pin(self.acquire(Reject::Nothing)).await;
            }
            self.refresh_behind(entry.clone(), sent, ahead);
        }
        Outcome::Read { answer, sent, waited: false }
    }

    async fn fly_on_stale(&mut self, stale: Entry<V>, sent: Arrival) -> Outcome<V> {
        self.flight.offer(stale.clone(), sent);
        if self.loads() && self.inner.options.refresh.serves_stale() {
            self.refresh_behind(stale.clone(), sent, Duration::ZERO);
            return Outcome::Read { answer: Answer::Present(stale), sent, waited: false };
        }
        Box::pin(self.acquire(Reject::Nothing)).await
    }

    /// Has the value loaded behind the backs of the callers, who have `held`.
    pub(super) fn refresh_behind(&mut self, held: Entry<V>, sent: Arrival, ahead: Duration) {
        if let Some(goal) = self.goal.take() {
            self.inner.refresh_behind(&self.id, goal, (held, sent), ahead);
        }
    }

    /// Whether the flight is to run a loader, rather than hand out the lease.
    pub(super) fn loads(&self) -> bool {
        matches!(self.goal, Some(Goal::Load { .. }))
    }

    pub(super) fn takes_absence(&self) -> bool {
        !matches!(self.goal, Some(Goal::Load { absence: false, .. }))
    }

    /// Reads what the store had, and says what cannot be used of it.
    pub(super) fn open(&self, stored: &Stored) -> Result<Opened<V>, Reject> {
        let opened = self.inner.open(stored).map_err(|reason| {
            self.inner.unreadable(reason);
            Head::id(&stored.bytes).map_or(Reject::Nothing, Reject::Entry)
        })?;
        match opened.answer {
            Answer::Absent if !self.takes_absence() => Err(Reject::Entry(opened.id)),
            _ => Ok(opened),
        }
    }

    /// Sees what can be made of what the store had, and keeps in process memory what is fresh.
    pub(super) async fn judge(&mut self, stored: Stored) -> Result<Found<V>, Unavailable> {
        let opened = match self.open(&stored) {
            Ok(opened) => opened,
            Err(reject) => return Ok(Found::Unusable(reject)),
        };
        if !self.inner.is_current(&opened.stamp, &mut self.budget).await? {
            return Ok(Found::Unusable(Reject::Entry(opened.id)));
        }
        Ok(match opened.answer {
            Answer::Present(entry) if entry.is_stale() => Found::Stale(entry),
            Answer::Absent | Answer::Present(_) => self.remember(opened),
        })
    }

    fn remember(&self, opened: Opened<V>) -> Found<V> {
        self.inner.memorize(&self.id.key, &self.flight.fence, &opened);
        Found::Usable(opened.answer)
    }

    /// Fails for those aboard who cannot fall back on what the store has. Each has come before this read.
    pub(super) async fn fail(&mut self, failure: Failure) -> Outcome<V> {
        let sent = self.inner.flights.depart();
        match self.fallback().await {
            Ok(Some(entry)) => self.flight.offer(entry, sent),
            Ok(None) => self.flight.withdraw(),
            Err(Unavailable) => {
                let passed = |stale: Entry<V>| self.inner.numbers.have_passed(&stale.stamp);
                if self.flight.stale().is_some_and(passed) {
                    self.flight.withdraw();
                }
            }
        }
        Outcome::Failed(failure)
    }

    async fn fallback(&mut self) -> Result<Option<Entry<V>>, Unavailable> {
        let stored = self.inner.backend.read(&self.id.key, &mut self.budget).await?;
        let Some(opened) = stored.and_then(|stored| self.inner.open(&stored).ok()) else { return Ok(None) };
        match opened.answer {
            Answer::Present(entry) => {
                let current = self.inner.is_current(&opened.stamp, &mut self.budget).await?;
                Ok(current.then_some(entry))
            }
            Answer::Absent => Ok(None),
        }
    }

    /// Ends the flight: the next caller begins another, and those aboard are told.
    fn land(&mut self, outcome: Outcome<V>) {
        self.landed = true;
        self.inner.flights.end(&self.id.key, &self.flight);
        self.flight.finish(outcome);
        // By now nobody comes aboard any more.
        let (space, callers) = (self.inner.name.as_str(), self.flight.callers());
        if callers > 0 {
            self.inner.record(Event::Flight { space, callers });
        }
    }
}

impl<V: Send + Sync + 'static> Drop for Leader<V> {
    /// A leader whose task was ended, or whose codec panicked, lets nobody wait for ever.
    fn drop(&mut self) {
        if !self.landed {
            let panicked = std::thread::panicking();
            self.land(Outcome::Failed(if panicked { Failure::Panicked } else { Failure::Overloaded }));
        }
    }
}

//! A caller's way through levels and flights to an answer.

use std::{pin::Pin, sync::Arc, time::Duration};

use super::{
    bulkhead::Parent,
    entry::{Entry, Source},
    error::Failure,
    flight::Flight,
    flights::Boarding,
    grant::Grant,
    id::Id,
    inner::Inner,
    leader::{Goal, Leader},
    options::Abandoned,
    refresh::{Luck, Refresh},
    verdict::{Answer, Patience, Seat, Verdict},
};
use crate::observe::{Event, ReadOutcome};

/// What a caller wants.
pub(crate) struct Want<V> {
    pub(crate) goal: Goal<V>,
    /// Past all levels.
    pub(crate) fresh: bool,
    /// How long it waits for somebody else's load; `None` for as long as that takes.
    pub(crate) wait: Option<Duration>,
}

/// What a caller gets.
pub(crate) enum Got<V> {
    Answer(Answer<V>),
    /// The filter does not know the id.
    Filtered,
    Lease {
        grant: Grant,
        stale: Option<Entry<V>>,
    },
    Unshared,
    Busy,
}

type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One caller, from its coming to its answer.
struct Caller<V: Send + Sync + 'static> {
    inner: Arc<Inner<V>>,
    id: Id,
    seat: Seat,
    parent: Option<Parent>,
    goal: Option<Goal<V>>,
    life: Option<Duration>,
    luck: Luck,
    /// When it went on beyond process memory, if the answer is not from there.
    began: Option<Duration>,
    patience: Patience,
    takes_stale: Option<Timer>,
    over: Option<Timer>,
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Brings what `want` asks for `id`.
    pub(crate) async fn obtain(self: &Arc<Self>, id: &str, want: Want<V>) -> Result<Got<V>, Failure> {
        let id = Id::new(id);
        self.meet(&id.key);
        let mut caller = Caller::new(self.clone(), id.clone(), want);
        let got = caller.travel().await;
        if let Ok(Got::Answer(Answer::Present(Entry { source: Source::Memory | Source::Store, .. }))) = got {
            self.count_answer(&id.key);
        }
        match (outcome(&got), caller.began) {
            (Some(outcome), Some(began)) => self.told_read(outcome, began),
            _ => self.counts.memory_hit(),
        }
        got
    }
}

fn outcome<V>(got: &Result<Got<V>, Failure>) -> Option<ReadOutcome> {
    Some(match got {
        Ok(Got::Answer(Answer::Absent)) => ReadOutcome::Absent,
        Ok(Got::Answer(Answer::Present(entry))) => entry.outcome()?,
        Ok(Got::Filtered) => ReadOutcome::Filtered,
        Ok(Got::Lease { .. } | Got::Unshared | Got::Busy) => ReadOutcome::Miss,
        Err(_) => ReadOutcome::Failed,
    })
}

impl<V> Entry<V> {
    /// How a read that ends with this entry is told of; fresh hits in process memory are only counted.
    pub(crate) fn outcome(&self) -> Option<ReadOutcome> {
        match self.source {
            // Of memory, while the store cannot be asked.
            Source::Memory | Source::Store if self.is_stale() => Some(ReadOutcome::Stale),
            Source::Memory => None,
            Source::Loaded => Some(ReadOutcome::Loaded),
            Source::Store => Some(ReadOutcome::Store),
            Source::Coalesced => Some(ReadOutcome::Coalesced),
        }
    }
}

impl<V: Send + Sync + 'static> Caller<V> {
    fn new(inner: Arc<Inner<V>>, id: Id, want: Want<V>) -> Self {
        let (life, absence) = match want.goal {
            Goal::Lease(life) => (Some(life), true),
            Goal::Load { absence, .. } => (None, absence),
        };
        let seat = Seat {
            arrived: inner.flights.arrive(),
            fresh: want.fresh,
            takes_absence: absence,
            takes_lease: life.is_some(),
            leads: false,
        };
        let timer = |span: Duration| -> Timer { Box::pin(inner.shared.context.clock.sleep(span)) };
        let takes_stale = inner.options.patience.filter(|_| !want.fresh).map(timer);
        let over = want.wait.map(timer);
        Self {
            parent: Parent::current(),
            luck: inner.options.refresh.luck(&inner.shared.context.dice),
            goal: Some(want.goal),
            began: None,
            patience: Patience::default(),
            inner,
            id,
            seat,
            life,
            takes_stale,
            over,
        }
    }

    async fn travel(&mut self) -> Result<Got<V>, Failure> {
        loop {
            if let Some(answer) = self.recall() {
                self.began = None;
                return Ok(Got::Answer(answer));
            }
            let clock = &self.inner.shared.context.clock;
            self.began.get_or_insert_with(|| clock.reading());
            if self.parent.is_none() && self.inner.shared.context.tasks.is_stopping() {
                let found = self.look(self.inner.options.refresh).await;
                return found.map(Got::Answer).ok_or(Failure::Overloaded);
            }
            let Some(goal) = self.goal.take() else { return Err(Failure::Overloaded) };
            let mut aboard = self.board(goal);
            let waits = self.inner.shared.waits.clone();
            let _waits_for = match self.parent.map(|parent| waits.enter(parent.flight, aboard.flight.id)) {
                Some(None) => {
                    aboard.answered = true;
                    return Err(Failure::Recursive);
                }
                other => other.flatten(),
            };
            if aboard.flight.fresh
                && let Some(answer) = self.look(self.inner.options.refresh).await
            {
                aboard.answered = true;
                return Ok(Got::Answer(answer));
            }
            let landed = if self.seat.leads { self.fly(&aboard.flight).await } else { None };
            let verdict = match landed {
                Some(verdict) => verdict,
                None => Box::pin(self.attend(&aboard.flight)).await,
            };
            aboard.answered = true;
            if let Some(got) = got(verdict, &aboard.flight) {
                return got;
            }
        }
    }

    /// What process memory answers, if the caller may have it from there.
    fn recall(&mut self) -> Option<Answer<V>> {
        if self.seat.fresh {
            return None;
        }
        let (answer, may_be_due) = self.inner.present(&self.id.key)?;
        match &answer {
            Answer::Absent if !self.seat.takes_absence => return None,
            Answer::Present(entry) if may_be_due && !self.looks_no_further(entry) => return None,
            Answer::Present(_) | Answer::Absent => {}
        }
        Some(answer)
    }

    /// Has `held`, which process memory has, loaded again if that is due. Whether it answers the caller: not one who
    /// then asks for the lease itself.
    fn looks_no_further(&mut self, held: &Entry<V>) -> bool {
        let Some(ahead) = self.inner.due(held, self.luck) else { return true };
        self.inner.postpone(&self.id.key, held.id);
        if self.seat.takes_lease {
            return false;
        }
        if let Some(goal) = self.goal.take() {
            let sent = self.inner.flights.depart();
            self.inner.refresh_behind(&self.id, goal, (held.clone(), sent), ahead);
        }
        true
    }

    /// What the store answers, if the caller may have it from there.
    async fn look(&mut self, refresh: Refresh) -> Option<Answer<V>> {
        match self.seat.fresh {
            true => None,
            false => self.inner.look(&self.id, refresh, self.seat.takes_absence).await,
        }
    }

    /// Takes a seat in the flight of the id, or begins that flight with `goal` where there is none.
    fn board(&mut self, mut goal: Goal<V>) -> Aboard<V> {
        let inner = &self.inner;
        let ends_when_abandoned = self.life.is_some() || inner.options.abandoned == Abandoned::Cancel;
        let takes_lease = self.seat.takes_lease;
        let begin = || inner.new_flight(self.seat.fresh, ends_when_abandoned);
        let boarding = inner.flights.board(&self.id.key, self.seat, begin);
        self.seat.leads = matches!(boarding, Boarding::Lead(_));
        let (Boarding::Lead(flight) | Boarding::Join(flight)) = boarding;
        let lends = self.parent.is_some_and(|parent| parent.permitted);
        if lends {
            flight.lenders().send_modify(|lenders| *lenders += 1);
        }
        let aboard =
            Aboard { inner: inner.clone(), flight: flight.clone(), takes_lease, lends, answered: false };
        if !self.seat.leads {
            flight.helm.take_over(&inner.shared.context.tasks);
            goal.stand_aside();
            self.goal = Some(goal);
            return aboard;
        }
        self.goal = self.life.map(Goal::Lease);
        let mut leader =
            Leader::new(inner.clone(), flight, self.id.clone(), goal, self.seat.fresh, self.parent);
        leader.luck = self.luck;
        // What reads no level has nothing to do that is the caller's.
        if self.seat.fresh {
            leader.spawn();
        } else {
            leader.attended();
        }
        aboard
    }

    /// Flies `flight` until it has landed, and has a verdict, or a task flies it.
    async fn fly(&mut self, flight: &Flight<V>) -> Option<Verdict<V>> {
        let tasks = &self.inner.shared.context.tasks;
        tokio::select! {
            biased;
            () = flight.helm.fly(tasks) => {
                let verdict = flight.verdict(self.seat, self.patience);
                return (!matches!(verdict, Verdict::Pending | Verdict::Look)).then_some(verdict);
            }
            () = elapse(&mut self.takes_stale) => self.patience.takes_stale = true,
            () = elapse(&mut self.over) => self.patience.over = true,
        }
        flight.helm.take_over(tasks);
        None
    }

    /// Waits until `flight` has a verdict for the caller.
    async fn attend(&mut self, flight: &Flight<V>) -> Verdict<V> {
        loop {
            let changed = flight.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let verdict = match flight.verdict(self.seat, self.patience) {
                Verdict::Look => {
                    self.patience.looked = true;
                    match self.look(Refresh::Stale).await {
                        Some(answer) => Verdict::Served(answer),
                        None => continue,
                    }
                }
                verdict => verdict,
            };
            if self.patience.takes_stale && matches!(verdict, Verdict::Served(_)) {
                flight.go_on();
            }
            if !matches!(verdict, Verdict::Pending) {
                return verdict;
            }
            tokio::select! {
                () = changed => {}
                () = elapse(&mut self.takes_stale) => self.patience.takes_stale = true,
                () = elapse(&mut self.over) => self.patience.over = true,
            }
        }
    }
}

/// What a verdict of `flight` brings its caller; nothing where the next flight is to say.
fn got<V>(verdict: Verdict<V>, flight: &Flight<V>) -> Option<Result<Got<V>, Failure>> {
    Some(match verdict {
        Verdict::Served(answer) => Ok(Got::Answer(answer)),
        Verdict::Filtered => Ok(Got::Filtered),
        Verdict::Leased(grant) => Ok(Got::Lease { grant, stale: flight.stale() }),
        Verdict::Unshared => Ok(Got::Unshared),
        Verdict::Failed(failure) => Err(failure),
        Verdict::Busy => Ok(Got::Busy),
        Verdict::Pending | Verdict::Look | Verdict::Next => return None,
    })
}

/// Completes when `timer` does, once.
async fn elapse(timer: &mut Option<Timer>) {
    match timer {
        Some(running) => running.await,
        None => std::future::pending().await,
    }
    *timer = None;
}

/// A caller's seat in a flight, until it is dropped.
struct Aboard<V: Send + Sync + 'static> {
    inner: Arc<Inner<V>>,
    flight: Arc<Flight<V>>,
    takes_lease: bool,
    lends: bool,
    answered: bool,
}

impl<V: Send + Sync + 'static> Drop for Aboard<V> {
    fn drop(&mut self) {
        if self.lends {
            self.flight.lenders().send_modify(|lenders| *lenders -= 1);
        }
        if self.flight.leave(self.takes_lease) && !self.answered {
            self.inner.record(Event::WaiterCancelled { space: self.inner.name.as_str() });
        }
        // It may have been the pilot, whose flight goes on, or ends, by itself.
        self.flight.helm.take_over(&self.inner.shared.context.tasks);
    }
}

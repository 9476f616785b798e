//! One flight: the state that the callers of one key share from the first read to the fill, as plain steps
//! under one lock. It decides whom an answer may serve.

use std::sync::Arc;

use tokio::sync::Notify;

use super::{
    entry::{Entry, Source},
    error::Failure,
    fence::Fence,
    flights::Arrival,
    grant::Grant,
    waits::FlightId,
};
use crate::sync::Mutex;

/// What callers of one key wait for together.
pub(crate) struct Flight<V> {
    pub(crate) id: FlightId,
    pub(crate) fence: Arc<Fence>,
    /// Told at every change of state.
    pub(crate) changed: Notify,
    /// Told when the last caller has left, if that ends the flight.
    pub(crate) abandoned: Notify,
    /// Told when a caller that holds a permit joins: the load may run on that.
    pub(crate) lent: Notify,
    ends_when_abandoned: bool,
    state: Mutex<State<V>>,
}

struct State<V> {
    seats: usize,
    over: bool,
    detached: bool,
    /// Somebody else loads, or the load has begun: from now on the end may be far.
    waiting: bool,
    load_began: Option<Arrival>,
    stale: Option<Entry<V>>,
    loaded: Option<Answer<V>>,
    failure: Option<Failure>,
    outcome: Option<Outcome<V>>,
}

/// A value, or the knowledge that there is none.
#[derive(Debug)]
pub(crate) enum Answer<V> {
    Present(Entry<V>),
    Absent,
}

/// How a flight ends.
#[derive(Debug)]
pub(crate) enum Outcome<V> {
    /// With what a read, sent at `sent`, found; `waited` when it was for somebody's load.
    Read { answer: Answer<V>, sent: Arrival, waited: bool },
    /// With what was loaded, and whether that may serve those who came after the load began.
    Loaded { accepted: bool },
    /// With a failure.
    Failed(Failure),
    /// With the lease in the hands of one caller, who loads outside.
    Leased(Option<Grant>),
    /// With the knowledge that for a while everybody loads for himself.
    Unshared,
    /// With nothing for anybody.
    Nothing,
}

/// What a caller makes of the state of a flight.
#[derive(Debug)]
pub(crate) enum Verdict<V> {
    /// It is too early to tell.
    Pending,
    /// This answers the caller.
    Served(Answer<V>),
    /// The lease is the caller's.
    Leased(Grant),
    /// The caller loads for himself.
    Unshared,
    /// There is no answer.
    Failed(Failure),
    /// The wait of the caller is over.
    Busy,
    /// This flight does not serve the caller; the next one may.
    Next,
}

/// How a caller sits in a flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    /// When the caller came: what was read or begun later may serve it.
    pub(crate) arrived: Arrival,
    /// Whether nothing out of a level may serve it.
    pub(crate) fresh: bool,
    /// Whether it takes the lease rather than have the value loaded.
    pub(crate) takes_lease: bool,
    /// Whether the flight runs this caller's loader.
    pub(crate) leads: bool,
}

/// What a caller no longer waits for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// It takes a stale value now.
    pub(crate) takes_stale: bool,
    /// It does not wait for somebody else's load now.
    pub(crate) over: bool,
}

impl<V> Flight<V> {
    pub(crate) fn new(id: FlightId, fence: Fence, ends_when_abandoned: bool) -> Self {
        Self {
            id,
            fence: Arc::new(fence),
            changed: Notify::new(),
            abandoned: Notify::new(),
            lent: Notify::new(),
            ends_when_abandoned,
            state: Mutex::new(State {
                seats: 0,
                over: false,
                detached: false,
                waiting: false,
                load_began: None,
                stale: None,
                loaded: None,
                failure: None,
                outcome: None,
            }),
        }
    }

    /// Takes a seat; `false` when the flight ends because everybody has left it.
    pub(crate) fn board(&self) -> bool {
        let mut state = self.state.lock();
        if !state.over {
            state.seats += 1;
        }
        !state.over
    }

    /// Gives a seat back. Answers whether the caller left before the end.
    pub(crate) fn leave(&self) -> bool {
        let mut state = self.state.lock();
        state.seats -= 1;
        if state.seats == 0 && self.ends_when_abandoned && state.outcome.is_none() {
            state.over = true;
            self.abandoned.notify_one();
        }
        state.outcome.is_none()
    }

    /// Offers a stale value to those who run out of patience, and to all if the load fails.
    pub(crate) fn offer(&self, stale: Entry<V>) {
        self.update(|state| state.stale = Some(stale));
    }

    pub(crate) fn stale(&self) -> Option<Entry<V>> {
        self.state.lock().stale.clone()
    }

    /// Tells that the end may be far.
    pub(crate) fn wait(&self) {
        self.update(|state| state.waiting = true);
    }

    /// Tells that the load begins: it may serve, at once, whoever came before `began`.
    pub(crate) fn load(&self, began: Arrival) {
        self.update(|state| {
            state.waiting = true;
            state.load_began = Some(began);
        });
    }

    /// Hands the loaded value to those who came before the load.
    pub(crate) fn loaded(&self, answer: Answer<V>) {
        self.update(|state| state.loaded = Some(answer));
    }

    /// Hands the failure to everybody, while its note is still on its way.
    pub(crate) fn failed(&self, failure: Failure) {
        self.update(|state| state.failure = Some(failure));
    }

    /// Ends the flight. Only the first end counts.
    pub(crate) fn finish(&self, outcome: Outcome<V>) {
        self.update(|state| {
            state.outcome.get_or_insert(outcome);
        });
    }

    /// Sends the callers who came after the load began to the next flight, and closes process memory to it.
    pub(crate) fn detach(&self) {
        self.fence.cut();
        self.update(|state| state.detached = true);
    }

    /// Whether nothing has overtaken this flight.
    pub(crate) fn is_attached(&self) -> bool {
        !self.state.lock().detached
    }

    fn update(&self, change: impl FnOnce(&mut State<V>)) {
        change(&mut self.state.lock());
        self.changed.notify_waiters();
    }

    /// What the flight has for the caller in `seat` by now.
    pub(crate) fn verdict(&self, seat: Seat, patience: Patience) -> Verdict<V> {
        let state = &mut *self.state.lock();
        let early = state.load_began.is_none_or(|began| seat.arrived < began);
        if let Some(answer) = &state.loaded
            && early
        {
            return Verdict::Served(answer.by(seat));
        }
        if let Some(failure) = state.failure.clone() {
            return state.fail(seat, failure);
        }
        match &mut state.outcome {
            None if state.detached && !early => Verdict::Next,
            None => state.so_far(seat, patience),
            Some(Outcome::Read { answer, sent, waited }) => {
                if seat.fresh || seat.arrived >= *sent {
                    return Verdict::Next;
                }
                Verdict::Served(if *waited { answer.from(Source::Coalesced) } else { answer.clone() })
            }
            Some(Outcome::Loaded { accepted }) => match &state.loaded {
                Some(answer) if *accepted && !seat.fresh => Verdict::Served(answer.by(seat)),
                _ => Verdict::Next,
            },
            Some(Outcome::Failed(failure)) => {
                let failure = failure.clone();
                state.fail(seat, failure)
            }
            Some(Outcome::Leased(grant)) if seat.takes_lease => {
                grant.take().map_or(Verdict::Next, Verdict::Leased)
            }
            Some(Outcome::Unshared) if seat.takes_lease => Verdict::Unshared,
            Some(Outcome::Leased(_) | Outcome::Unshared | Outcome::Nothing) => Verdict::Next,
        }
    }
}

impl<V> State<V> {
    fn so_far(&self, seat: Seat, patience: Patience) -> Verdict<V> {
        match &self.stale {
            Some(stale) if !seat.fresh && (patience.takes_stale || (patience.over && self.waiting)) => {
                Verdict::Served(Answer::Present(stale.clone()))
            }
            _ if patience.over && self.waiting => Verdict::Busy,
            _ => Verdict::Pending,
        }
    }

    fn fail(&self, seat: Seat, failure: Failure) -> Verdict<V> {
        let for_fresh = seat.leads || self.load_began.is_some_and(|began| seat.arrived < began);
        match &self.stale {
            // Until the flight has ended, the next one would be this one again.
            _ if seat.fresh && !for_fresh && self.outcome.is_none() => Verdict::Pending,
            _ if seat.fresh && !for_fresh => Verdict::Next,
            Some(stale) if !seat.fresh => Verdict::Served(Answer::Present(stale.clone())),
            _ => Verdict::Failed(failure),
        }
    }
}

impl<V> Answer<V> {
    /// The loaded answer, as the caller in `seat` sees it.
    fn by(&self, seat: Seat) -> Self {
        self.from(if seat.leads { Source::Loaded } else { Source::Coalesced })
    }

    fn from(&self, source: Source) -> Self {
        match self.clone() {
            Self::Present(entry) => Self::Present(Entry { source, ..entry }),
            Self::Absent => Self::Absent,
        }
    }
}

impl<V> Clone for Answer<V> {
    fn clone(&self) -> Self {
        match self {
            Self::Present(entry) => Self::Present(entry.clone()),
            Self::Absent => Self::Absent,
        }
    }
}

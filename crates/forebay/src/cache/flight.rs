//! One flight: the state that the callers of one key share from the first read to the fill, as plain steps
//! under one lock. It decides whom an answer may serve.

use std::sync::OnceLock;

use tokio::sync::{Notify, watch};

use super::{
    entry::{Entry, Source},
    error::Failure,
    fence::Fence,
    flights::Arrival,
    grant::Grant,
    pilot::Helm,
    verdict::{Answer, Outcome, Patience, Seat, Verdict},
    waits::FlightId,
};
use crate::sync::Mutex;

/// What callers of one key wait for together.
pub(crate) struct Flight<V> {
    pub(crate) id: FlightId,
    pub(crate) fence: Fence,
    /// Told at every change of state.
    pub(crate) changed: Notify,
    /// Told when the last caller has left, if that ends the flight.
    pub(crate) abandoned: Notify,
    pub(crate) helm: Helm,
    /// How many of those aboard hold a permit, once one does or a load asks.
    lenders: OnceLock<watch::Sender<usize>>,
    /// Whether it reads no level: who may be served by one looks there himself.
    pub(crate) fresh: bool,
    state: Mutex<State<V>>,
}

struct State<V> {
    ends_when_abandoned: bool,
    seats: usize,
    /// How many have come aboard, whoever is still there.
    callers: usize,
    /// How many of those aboard would take the lease.
    takers: usize,
    over: bool,
    detached: bool,
    /// Somebody else loads, or the load has begun: from now on the end may be far.
    waiting: bool,
    load_began: Option<Arrival>,
    /// A value to fall back on, with when it was read.
    stale: Option<(Entry<V>, Arrival)>,
    loaded: Option<Answer<V>>,
    failure: Option<Failure>,
    outcome: Option<Outcome<V>>,
}

impl<V> Flight<V> {
    pub(crate) fn new(id: FlightId, fence: Fence, fresh: bool, ends_when_abandoned: bool) -> Self {
        Self {
            id,
            fence,
            changed: Notify::new(),
            abandoned: Notify::new(),
            helm: Helm::new(),
            lenders: OnceLock::new(),
            fresh,
            state: Mutex::new(State {
                ends_when_abandoned,
                seats: 0,
                callers: 0,
                takers: 0,
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
    pub(crate) fn board(&self, takes_lease: bool) -> bool {
        let mut state = self.state.lock();
        if !state.over {
            state.seats += 1;
            state.callers += 1;
            state.takers += usize::from(takes_lease);
        }
        !state.over
    }

    /// How many of those aboard hold a permit: the load may run on that.
    pub(crate) fn lenders(&self) -> &watch::Sender<usize> {
        self.lenders.get_or_init(|| watch::Sender::new(0))
    }

    /// How many have waited for it.
    pub(crate) fn callers(&self) -> usize {
        self.state.lock().callers
    }

    /// Gives a seat back. Answers whether the caller left before the end.
    pub(crate) fn leave(&self, takes_lease: bool) -> bool {
        let mut state = self.state.lock();
        state.seats -= 1;
        state.takers -= usize::from(takes_lease);
        let still_needed = state.loaded.is_none() && state.failure.is_none() && state.outcome.is_none();
        if state.seats == 0 && state.ends_when_abandoned && still_needed {
            state.over = true;
            self.abandoned.notify_one();
        }
        let early = state.outcome.is_none();
        let untaken = state.untaken();
        drop(state);
        // Dropping a lease starts a task, which is not to happen under the lock.
        drop(untaken);
        early
    }

    /// Offers a value that was read at `sent` to those who run out of patience, and to all if the load fails.
    pub(crate) fn offer(&self, stale: Entry<V>, sent: Arrival) {
        self.update(|state| state.stale = Some((stale, sent)));
    }

    /// Takes the offer back: the value is not in the store any more.
    pub(crate) fn withdraw(&self) {
        self.update(|state| state.stale = None);
    }

    pub(crate) fn stale(&self) -> Option<Entry<V>> {
        self.offered().map(|(stale, _)| stale)
    }

    /// The value on offer, with when it was read.
    pub(crate) fn offered(&self) -> Option<(Entry<V>, Arrival)> {
        self.state.lock().stale.clone()
    }

    /// Tells that the end may be far.
    pub(crate) fn may_take_long(&self) {
        self.update(|state| state.waiting = true);
    }

    /// Tells that the load begins: it may serve, at once, whoever came before `began`.
    pub(crate) fn load_begins(&self, began: Arrival) {
        self.update(|state| {
            state.waiting = true;
            state.load_began = Some(began);
        });
    }

    /// Lets the load go on although everybody may leave: some of those had something else instead.
    pub(crate) fn go_on(&self) {
        self.state.lock().ends_when_abandoned = false;
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
        let mut untaken = None;
        self.update(|state| {
            state.outcome.get_or_insert(outcome);
            untaken = state.untaken();
        });
        drop(untaken);
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
            return state.serve(answer.by(seat), seat);
        }
        if let Some(failure) = state.failure.clone() {
            return state.fail(seat, failure);
        }
        if state.outcome.is_some() {
            return state.end(seat);
        }
        if state.detached && !early {
            return Verdict::Next;
        }
        state.so_far(seat, patience)
    }
}

impl<V> State<V> {
    /// What the caller in `seat` has of a flight that has ended.
    fn end(&mut self, seat: Seat) -> Verdict<V> {
        match &mut self.outcome {
            Some(Outcome::Read { answer, sent, waited }) if !seat.fresh && seat.arrived < *sent => {
                let answer = if *waited { answer.from(Source::Coalesced) } else { answer.clone() };
                self.serve(answer, seat)
            }
            Some(Outcome::Filtered { sent }) if seat.arrived < *sent => Verdict::Filtered,
            Some(Outcome::Loaded { accepted: Some(sent) }) if !seat.fresh && seat.arrived < *sent => {
                self.loaded.as_ref().map_or(Verdict::Next, |answer| self.serve(answer.by(seat), seat))
            }
            Some(Outcome::Failed(failure)) => {
                let failure = failure.clone();
                self.fail(seat, failure)
            }
            Some(Outcome::Leased(grant)) if seat.takes_lease => {
                grant.take().map_or(Verdict::Next, Verdict::Leased)
            }
            Some(Outcome::Unshared) if seat.takes_lease => Verdict::Unshared,
            _ => Verdict::Next,
        }
    }

    fn so_far(&self, seat: Seat, patience: Patience) -> Verdict<V> {
        let over = patience.over && self.waiting;
        match self.fallback(seat) {
            Some(stale) if patience.takes_stale || over => stale,
            None if !seat.fresh && !patience.looked && (patience.takes_stale || over) => Verdict::Look,
            _ if over => Verdict::Busy,
            _ => Verdict::Pending,
        }
    }

    /// The offered value, for those who came before it was read.
    fn fallback(&self, seat: Seat) -> Option<Verdict<V>> {
        let (stale, sent) = self.stale.as_ref()?;
        let serves = !seat.fresh && seat.arrived < *sent;
        serves.then(|| Verdict::Served(Answer::Present(stale.clone())))
    }

    /// The lease that nobody aboard would take.
    fn untaken(&mut self) -> Option<Grant> {
        match &mut self.outcome {
            Some(Outcome::Leased(grant)) if self.takers == 0 => grant.take(),
            _ => None,
        }
    }

    fn serve(&self, answer: Answer<V>, seat: Seat) -> Verdict<V> {
        match answer {
            Answer::Absent if !seat.takes_absence => self.next(),
            answer => Verdict::Served(answer),
        }
    }

    /// The next flight; until this one has ended, that would be this one again.
    fn next(&self) -> Verdict<V> {
        if self.outcome.is_none() { Verdict::Pending } else { Verdict::Next }
    }

    fn fail(&self, seat: Seat, failure: Failure) -> Verdict<V> {
        let for_fresh = seat.leads || self.load_began.is_some_and(|began| seat.arrived < began);
        match self.fallback(seat) {
            Some(stale) => stale,
            // There is a value to fall back on, but it was read before this caller came: the next flight reads.
            None if !seat.fresh && self.stale.is_some() => self.next(),
            None if !seat.fresh || for_fresh => Verdict::Failed(failure),
            None => self.next(),
        }
    }
}

//! Which flight's load waits for which other flight, so that a cycle is an error and not a hang.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{
    hash::Seed,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The number of one flight among all flights of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FlightId(u64);

impl fmt::Display for FlightId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The waits of all loads of the process. A load may wait for several flights at a time.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    flights: AtomicU64,
    waits_for: Mutex<HashMap<FlightId, Vec<FlightId>, Seed>>,
}

impl Waits {
    /// The one of this process: a cycle may go through several `Forebay`s.
    pub(crate) fn of_process() -> Arc<Self> {
        static WAITS: OnceLock<Arc<Waits>> = OnceLock::new();
        WAITS.get_or_init(Arc::default).clone()
    }

    pub(crate) fn number(&self) -> FlightId {
        FlightId(self.flights.fetch_add(1, Relaxed))
    }

    /// Records that the load of `from` waits for `to`; `None` if that would close a cycle.
    pub(crate) fn enter(&self, from: FlightId, to: FlightId) -> Option<Wait<'_>> {
        let mut waits_for = self.waits_for.lock();
        if reaches(&waits_for, to, from) {
            return None;
        }
        waits_for.entry(from).or_default().push(to);
        Some(Wait { waits: self, from, to })
    }
}

fn reaches(waits_for: &HashMap<FlightId, Vec<FlightId>, Seed>, start: FlightId, goal: FlightId) -> bool {
    let mut open = vec![start];
    let mut seen = Vec::new();
    while let Some(flight) = open.pop() {
        if flight == goal {
            return true;
        }
        if !seen.contains(&flight) {
            seen.push(flight);
            open.extend(waits_for.get(&flight).into_iter().flatten());
        }
    }
    false
}

/// One load waits for one flight, until this is dropped.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    waits: &'a Waits,
    from: FlightId,
    to: FlightId,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut waits_for = self.waits.waits_for.lock();
        if let Some(flights) = waits_for.get_mut(&self.from) {
            if let Some(at) = flights.iter().position(|flight| *flight == self.to) {
                flights.swap_remove(at);
            }
            if flights.is_empty() {
                waits_for.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_waits_for_itself_is_a_cycle() {
        let waits = Waits::default();
        let a = waits.number();
        assert!(waits.enter(a, a).is_none());
    }

    #[test]
    fn a_load_may_wait_for_several_and_each_closes_a_cycle() {
        let waits = Waits::default();
        let [a, b, c] = [waits.number(), waits.number(), waits.number()];
        let (_to_b, _to_c) = (waits.enter(a, b).unwrap(), waits.enter(a, c).unwrap());
        assert!(waits.enter(c, a).is_none());
        assert!(waits.enter(b, a).is_none());
        assert!(waits.enter(b, c).is_some());
    }

    #[test]
    fn a_wait_that_is_over_closes_nothing() {
        let waits = Waits::default();
        let (a, b) = (waits.number(), waits.number());
        let (first, second) = (waits.enter(a, b).unwrap(), waits.enter(a, b).unwrap());
        drop(first);
        assert!(waits.enter(b, a).is_none());
        drop(second);
        assert!(waits.enter(b, a).is_some());
        assert!(waits.waits_for.lock().is_empty());
    }
}

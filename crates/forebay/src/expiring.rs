//! The map with deadlines under every memory backend: what is past its deadline is not there.

use std::time::Duration;

use dashmap::{DashMap, Entry};

use crate::{
    clock::{Clock, Moment},
    hash::Seed,
};

/// Values that end at a deadline, by name. Nothing is ever evicted, and nothing lives without a deadline.
#[derive(Debug)]
pub(crate) struct Expiring<T> {
    clock: Clock,
    entries: DashMap<Box<str>, Timed<T>, Seed>,
}

#[derive(Debug)]
struct Timed<T> {
    value: T,
    deadline: Moment,
}

/// What an atomic step leaves under its name.
#[derive(Debug)]
pub(crate) enum Next<T> {
    /// What was there, for as long as it had.
    Keep,
    /// What was there, from now on for this long.
    Prolong(Duration),
    /// This value, for this long.
    Set(T, Duration),
    /// Nothing.
    Clear,
}

impl<T> Expiring<T> {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, entries: DashMap::default() }
    }

    /// Shows `decide` what is under `name`, with the life it has left, and does what that answers: one atomic
    /// step for that name.
    pub(crate) fn step<R>(
        &self,
        name: &str,
        decide: impl FnOnce(Option<(&mut T, Duration)>) -> (Next<T>, R),
    ) -> R {
        let entry = self.entries.entry(name.into());
        // Read under the lock, so that deadlines and steps come in one order.
        let now = self.clock.now();
        match entry {
            Entry::Occupied(mut held) => {
                let timed = held.get_mut();
                let left = timed.deadline.since(now);
                let live = (!left.is_zero()).then_some((&mut timed.value, left));
                let was_live = live.is_some();
                let (next, answer) = decide(live);
                match next {
                    Next::Keep if was_live => {}
                    Next::Prolong(life) if was_live => held.get_mut().deadline = now.after(life),
                    Next::Set(value, life) => {
                        held.insert(Timed { value, deadline: now.after(life) });
                    }
                    Next::Keep | Next::Prolong(_) | Next::Clear => {
                        held.remove();
                    }
                }
                answer
            }
            Entry::Vacant(place) => {
                let (next, answer) = decide(None);
                if let Next::Set(value, life) = next {
                    place.insert(Timed { value, deadline: now.after(life) });
                }
                answer
            }
        }
    }

    /// Some of the names under which something is: at most `most`.
    pub(crate) fn names(&self, most: usize) -> Vec<Box<str>> {
        let now = self.clock.now();
        let live = self.entries.iter().filter(|entry| entry.deadline > now);
        live.take(most).map(|entry| entry.key().clone()).collect()
    }

    /// Removes everything.
    pub(crate) fn clear(&self) {
        self.entries.clear();
    }

    /// Removes what is past its deadline.
    pub(crate) fn sweep(&self) {
        let now = self.clock.now();
        self.entries.retain(|_, timed| timed.deadline > now);
    }

    /// How many there are, with what is past its deadline and not swept.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn look(map: &Expiring<u8>) -> Option<u8> {
        map.step("a", |held| (Next::Keep, held.map(|(value, _)| *value)))
    }

    #[test]
    fn a_value_ends_at_its_deadline() {
        let (clock, manual) = Clock::manual();
        let map = Expiring::new(clock);
        map.step("a", |_| (Next::Set(7, SECOND), ()));
        manual.advance(SECOND - Duration::from_millis(1));
        assert_eq!(look(&map), Some(7));
        manual.advance(Duration::from_millis(1));
        assert_eq!(look(&map), None);
    }

    #[test]
    fn prolonging_revives_nothing() {
        let (clock, manual) = Clock::manual();
        let map = Expiring::new(clock);
        map.step("a", |_| (Next::Set(7, SECOND), ()));
        manual.advance(SECOND);
        map.step("a", |_| (Next::Prolong(SECOND), ()));
        assert_eq!(look(&map), None);
    }

    #[test]
    fn a_sweep_keeps_only_what_lives() {
        let (clock, manual) = Clock::manual();
        let map = Expiring::new(clock);
        map.step("a", |_| (Next::Set(1, SECOND), ()));
        map.step("b", |_| (Next::Set(2, SECOND * 3), ()));
        manual.advance(SECOND * 2);
        map.sweep();
        assert_eq!(map.len(), 1);
    }
}

//! The visitors that wait to be counted: each once, with what is needed to tell on which days it came.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use super::visitor::Visitor;
use crate::{clock::Moment, hash::Seed};

/// As many are counted in one round trip.
pub(super) const BATCH: usize = 1000;

/// Shorter than any day: what lies between two moments no further apart lies on the day of one of them.
const SPAN: Duration = Duration::from_hours(20);

/// One that came between two moments, at both of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) visitor: Visitor,
    pub(super) first: Moment,
    pub(super) last: Moment,
}

/// What became of one that was to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    New,
    Again,
    NoRoom,
}

/// Those that wait, in the order in which they came.
#[derive(Debug)]
pub(super) struct Pending {
    queue: VecDeque<Waiting>,
    /// The newest number of each.
    numbers: HashMap<Visitor, u64, Seed>,
    /// The number of the first in the queue.
    first: u64,
    room: usize,
}

impl Pending {
    pub(super) fn new(room: usize) -> Self {
        Self { queue: VecDeque::new(), numbers: HashMap::default(), first: 0, room }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The number that the next one gets.
    pub(super) fn end(&self) -> u64 {
        self.first + self.queue.len() as u64
    }

    /// Whether one waits whose number is below `number`.
    pub(super) fn has_before(&self, number: u64) -> bool {
        !self.queue.is_empty() && self.first < number
    }

    pub(super) fn add(&mut self, visitor: Visitor, now: Moment) -> Added {
        if let Some(waiting) = self.find(&visitor)
            && now.since(waiting.first) <= SPAN
        {
            waiting.last = waiting.last.max(now);
            return Added::Again;
        }
        if self.queue.len() >= self.room {
            return Added::NoRoom;
        }
        self.push(Waiting { visitor, first: now, last: now });
        Added::New
    }

    fn find(&mut self, visitor: &Visitor) -> Option<&mut Waiting> {
        let place = self.numbers.get(visitor)?.checked_sub(self.first)?;
        self.queue.get_mut(usize::try_from(place).ok()?)
    }

    fn push(&mut self, waiting: Waiting) {
        self.numbers.insert(waiting.visitor, self.end());
        self.queue.push_back(waiting);
    }

    /// The first one.
    pub(super) fn front(&self) -> Option<&Waiting> {
        self.queue.front()
    }

    /// The first ones that came on one day, as many as go together.
    pub(super) fn batch(&self, on_the_day: impl Fn(Moment) -> bool) -> Vec<Waiting> {
        let together = self.queue.iter().take_while(|waiting| on_the_day(waiting.first));
        together.take(BATCH).copied().collect()
    }

    /// Removes the first `n`, which are done with for one day. Those that came on the next one too wait on: whether
    /// there are any.
    pub(super) fn done(&mut self, n: usize, on_the_day: impl Fn(Moment) -> bool) -> bool {
        let end = self.end();
        for _ in 0..n {
            let Some(done) = self.queue.pop_front() else { break };
            if self.numbers.get(&done.visitor) == Some(&self.first) {
                self.numbers.remove(&done.visitor);
            }
            self.first += 1;
            if !on_the_day(done.last) {
                self.push(Waiting { first: done.last, ..done });
            }
        }
        if self.queue.is_empty() {
            self.queue.shrink_to(BATCH);
            self.numbers.shrink_to(BATCH);
        }
        self.end() > end
    }

    /// Removes all of them: how many there were.
    pub(super) fn clear(&mut self) -> usize {
        let waiting = self.queue.len();
        *self = Self { first: self.end(), ..Self::new(self.room) };
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(hours: u64) -> Moment {
        Moment::default().after(Duration::from_hours(hours))
    }

    fn ada() -> Visitor {
        Visitor::of("ada")
    }

    /// Has everything counted, by days of 24 hours: who came on which.
    fn count(pending: &mut Pending) -> Vec<(u64, Visitor)> {
        let day = |moment: Moment| moment.since(hour(0)).as_secs() / 86_400;
        let mut counted = Vec::new();
        while let Some(first) = pending.front().map(|waiting| day(waiting.first)) {
            let batch = pending.batch(|moment| day(moment) == first);
            counted.extend(batch.iter().map(|waiting| (first, waiting.visitor)));
            pending.done(batch.len(), |moment| day(moment) == first);
        }
        counted
    }

    #[test]
    fn one_that_comes_again_waits_once() {
        let mut pending = Pending::new(10);
        assert_eq!(
            [hour(1), hour(2), hour(21)].map(|now| pending.add(ada(), now)),
            [Added::New, Added::Again, Added::Again]
        );
        assert_eq!(count(&mut pending), [(0, ada())]);
    }

    #[test]
    fn one_that_comes_on_several_days_counts_on_each_of_them_and_no_other() {
        for hours in [[23, 24, 25, 26], [1, 20, 30, 49], [23, 43, 49, 73], [20, 39, 41, 100], [0, 20, 41, 62]]
        {
            let mut pending = Pending::new(10);
            let mut days: Vec<_> = hours.iter().map(|hours| (hours / 24, ada())).collect();
            days.dedup();
            for hours in hours {
                pending.add(ada(), hour(hours));
            }
            let mut counted = count(&mut pending);
            counted.sort_by_key(|(day, _)| *day);
            counted.dedup();
            assert_eq!(counted, days, "{hours:?}");
        }
    }

    #[test]
    fn who_comes_on_the_next_day_while_it_is_counted_waits_on() {
        let mut pending = Pending::new(10);
        pending.add(ada(), hour(23));
        assert_eq!(pending.batch(|moment| moment < hour(24)).len(), 1);
        pending.add(ada(), hour(24));
        assert!(pending.done(1, |moment| moment < hour(24)));
        assert_eq!(count(&mut pending), [(1, ada())]);
    }

    #[test]
    fn there_is_room_for_so_many_and_again_once_some_are_counted() {
        let mut pending = Pending::new(2);
        let added = ["a", "b", "c", "a"].map(|id| pending.add(Visitor::of(id), hour(0)));
        assert_eq!(added, [Added::New, Added::New, Added::NoRoom, Added::Again]);
        assert!(!pending.done(1, |_| true));
        assert_eq!(pending.add(Visitor::of("c"), hour(0)), Added::New);
        assert_eq!((pending.len(), pending.end(), pending.clear(), pending.len()), (2, 3, 2, 0));
        assert_eq!(pending.add(Visitor::of("b"), hour(0)), Added::New);
        assert_eq!(pending.end(), 4);
    }
}

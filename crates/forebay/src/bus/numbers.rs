//! The sending side of the count: numbers the changes of one publisher.

use std::{collections::BTreeMap, time::Duration};

use crate::{bus::message::Tally, clock::Moment, sync::Mutex};

/// How long a number may stay unanswered before its publisher gives it up.
const GIVE_UP: Duration = Duration::from_secs(1);

/// In how many beats a skipped number stands, so that a lost beat does not make a gap of it.
const REPEATS: u8 = 4;

/// How many numbers a list of a beat holds at most.
const LISTED: usize = 64;

/// The numbers of one publisher, from 1 on.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    open: BTreeMap<u64, Moment>,
    /// Numbers given up, each with how many beats shall still say so.
    skipped: BTreeMap<u64, u8>,
}

impl Numbers {
    /// The number of the next change.
    pub(crate) fn take(&self, now: Moment) -> u64 {
        let mut state = self.0.lock();
        state.last += 1;
        let number = state.last;
        state.open.insert(number, now);
        number
    }

    /// Vouches that the change was published.
    ///
    /// False if the number has been given up: nobody waits for it, so the change needs a number of its own.
    #[must_use]
    pub(crate) fn answered(&self, number: u64) -> bool {
        self.0.lock().open.remove(&number).is_some()
    }

    /// Gives the number up: its change was not published, or nobody knows.
    pub(crate) fn failed(&self, number: u64) {
        self.0.lock().skip(number);
    }

    /// What the heartbeat of this moment says.
    pub(crate) fn beat(&self, now: Moment) -> Tally {
        let mut state = self.0.lock();
        state.give_up(now);
        state.tally()
    }

    /// What the farewell says: what is unanswered now is given up.
    pub(crate) fn farewell(&self) -> Tally {
        let mut state = self.0.lock();
        state.give_up(Moment::NEVER);
        state.tally()
    }
}

impl State {
    fn skip(&mut self, number: u64) {
        if self.open.remove(&number).is_some() {
            self.skipped.insert(number, REPEATS);
        }
    }

    fn give_up(&mut self, now: Moment) {
        let old = self.open.iter().filter(|(_, taken)| taken.after(GIVE_UP) <= now);
        let old: Vec<u64> = old.map(|(number, _)| *number).collect();
        old.into_iter().for_each(|number| self.skip(number));
    }

    fn tally(&mut self) -> Tally {
        let through = self.through();
        let open = self.open.range(..=through).map(|(number, _)| *number).collect();
        Tally { through, open, skipped: self.announce(through) }
    }

    /// The highest number that is not open, but below the first open one that finds no room in the list.
    fn through(&self) -> u64 {
        let settled = (1..=self.last).rev().find(|number| !self.open.contains_key(number)).unwrap_or(0);
        self.open.range(..=settled).nth(LISTED).map_or(settled, |(unlisted, _)| unlisted - 1)
    }

    /// The skipped numbers that the beat lists, those first that were listed least.
    ///
    /// One that finds no room is waited for in vain: a gap for all who hear, but the count does not fall behind.
    fn announce(&mut self, through: u64) -> Vec<u64> {
        let later = self.skipped.split_off(&through.saturating_add(1));
        let mut due: Vec<(u64, u8)> = std::mem::replace(&mut self.skipped, later).into_iter().collect();
        due.sort_by_key(|(_, left)| std::cmp::Reverse(*left));
        due.truncate(LISTED);
        self.skipped
            .extend(due.iter().filter(|(_, left)| *left > 1).map(|(number, left)| (*number, left - 1)));
        due.into_iter().map(|(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::default().after(Duration::from_millis(millis))
    }

    fn taken(count: u64) -> Numbers {
        let numbers = Numbers::default();
        (1..=count).for_each(|number| assert_eq!(numbers.take(at(0)), number));
        numbers
    }

    fn tally(through: u64, open: &[u64], skipped: &[u64]) -> Tally {
        Tally { through, open: open.to_vec(), skipped: skipped.to_vec() }
    }

    #[test]
    fn an_open_number_does_not_hide_the_answered_ones_above_it() {
        let numbers = taken(3);
        assert_eq!(numbers.beat(at(1)), tally(0, &[], &[]));
        assert!(numbers.answered(2));
        assert_eq!(numbers.beat(at(1)), tally(2, &[1], &[]));
        assert!(numbers.answered(1));
        assert!(numbers.answered(3));
        assert_eq!(numbers.beat(at(1)), tally(3, &[], &[]));
    }

    #[test]
    fn a_failed_number_is_skipped_in_four_beats() {
        let numbers = taken(1);
        numbers.failed(1);
        for _ in 0..4 {
            assert_eq!(numbers.beat(at(0)), tally(1, &[], &[1]));
        }
        assert_eq!(numbers.beat(at(0)), tally(1, &[], &[]));
    }

    #[test]
    fn an_answer_after_a_second_is_none() {
        let numbers = taken(1);
        assert_eq!(numbers.beat(at(999)), tally(0, &[], &[]));
        assert_eq!(numbers.beat(at(1000)), tally(1, &[], &[1]));
        assert!(!numbers.answered(1));
        numbers.failed(1);
        assert_eq!(numbers.beat(at(1500)), tally(1, &[], &[1]));
    }

    #[test]
    fn an_open_number_without_room_holds_the_count_back() {
        let numbers = taken(80);
        assert!(numbers.answered(70));
        numbers.failed(69);
        let tally = numbers.beat(at(1));
        assert_eq!((tally.through, tally.open.len(), tally.skipped.len()), (64, 64, 0));
        assert!(numbers.answered(1));
        assert_eq!(numbers.beat(at(1)).through, 65);
        (2..=6).for_each(|number| assert!(numbers.answered(number)));
        let tally = numbers.beat(at(1));
        assert_eq!((tally.through, tally.skipped), (70, vec![69]));
    }

    #[test]
    fn skipped_numbers_without_room_are_forgotten() {
        let numbers = taken(71);
        (1..=70).for_each(|number| numbers.failed(number));
        assert_eq!(numbers.beat(at(1)), tally(70, &[], &Vec::from_iter(1..=64)));
        numbers.failed(71);
        let next = numbers.beat(at(1));
        assert_eq!((next.through, next.skipped.len(), next.skipped[0]), (71, LISTED, 71));
    }

    #[test]
    fn a_farewell_leaves_nothing_open() {
        let numbers = taken(2);
        assert!(numbers.answered(1));
        assert_eq!(numbers.farewell(), tally(2, &[], &[2]));
    }
}

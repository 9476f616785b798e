//! What servers have done lately: the difference of their counters to those of a minute or two ago.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use super::figures::{Traffic, percent};
use crate::clock::Moment;

/// How far back is looked.
const SPAN: Duration = Duration::from_secs(60);

/// Readings are kept that far apart, so that there are a dozen at most however often somebody asks.
const BETWEEN: Duration = Duration::from_secs(5);

/// Counters by the run of their server: another run counts from the beginning.
type Reading = BTreeMap<String, Counters>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) evicted: u64,
    pub(super) rejected: u64,
}

/// Readings of the last minute, the oldest of which may be up to two minutes old.
#[derive(Debug, Default)]
pub(super) struct Readings(VecDeque<(Moment, Reading)>);

impl Readings {
    /// What was done since the oldest reading that is of use; nothing at the first one.
    pub(super) fn since(&mut self, now: Moment, reading: Reading) -> Option<Counters> {
        // Of other servers nobody knows what they had counted before.
        if self.0.front().is_some_and(|(_, before)| !before.keys().eq(reading.keys())) {
            self.0.clear();
        }
        while self.0.get(1).is_some_and(|(at, _)| now.since(*at) >= SPAN) {
            self.0.pop_front();
        }
        // What is older tells of no minute.
        while self.0.front().is_some_and(|(at, _)| now.since(*at) > 2 * SPAN) {
            self.0.pop_front();
        }
        let recent = self.0.front().map(|(_, before)| difference(before, &reading));
        if self.0.back().is_none_or(|(at, _)| now.since(*at) >= BETWEEN) {
            self.0.push_back((now, reading));
        }
        recent
    }
}

impl Counters {
    pub(super) fn of(traffic: &Traffic) -> Self {
        Self {
            hits: traffic.hits.unwrap_or(0),
            misses: traffic.misses.unwrap_or(0),
            evicted: traffic.evicted.unwrap_or(0),
            rejected: traffic.rejected.unwrap_or(0),
        }
    }

    /// The share of reads that found something, in percent; nothing of no reads.
    pub(super) fn hit_rate(&self) -> Option<f64> {
        percent(self.hits, self.hits + self.misses)
    }

    /// Counters that fell have begun anew.
    fn after(self, before: Self) -> Self {
        let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            hits: since(self.hits, before.hits),
            misses: since(self.misses, before.misses),
            evicted: since(self.evicted, before.evicted),
            rejected: since(self.rejected, before.rejected),
        }
    }
}

fn difference(before: &Reading, now: &Reading) -> Counters {
    now.iter().fold(Counters::default(), |sum, (run, now)| {
        let new = before.get(run).map(|before| now.after(*before)).unwrap_or_default();
        Counters {
            hits: sum.hits + new.hits,
            misses: sum.misses + new.misses,
            evicted: sum.evicted + new.evicted,
            rejected: sum.rejected + new.rejected,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::default().after(Duration::from_secs(seconds))
    }

    fn reading(run: &str, hits: u64, misses: u64) -> Reading {
        [(run.to_owned(), Counters { hits, misses, ..Counters::default() })].into()
    }

    #[test]
    fn the_rate_is_that_of_the_last_minute_and_not_since_the_start_of_the_server() {
        let mut readings = Readings::default();
        assert_eq!(readings.since(at(0), reading("a", 1_000_000, 0)), None);
        for second in 1..=200 {
            let (hits, misses) = if second <= 100 { (second, 0) } else { (100, second - 100) };
            let recent = readings.since(at(second), reading("a", 1_000_000 + hits, misses)).unwrap();
            assert!(recent.hits + recent.misses <= 65, "{second}: {recent:?}");
            match second {
                60 => assert_eq!(recent.hit_rate(), Some(100.0)),
                200 => assert_eq!(recent.hit_rate(), Some(0.0)),
                _ => {}
            }
            assert!(readings.0.len() <= 14);
        }
    }

    #[test]
    fn a_reading_of_long_ago_says_nothing_of_the_last_minute() {
        let mut readings = Readings::default();
        readings.since(at(0), reading("a", 1_000, 0));
        assert_eq!(readings.since(at(120), reading("a", 1_010, 0)).unwrap().hits, 10);
        assert_eq!(readings.since(at(300), reading("a", 9_000, 0)), None);
        assert_eq!(readings.since(at(301), reading("a", 9_001, 0)).unwrap().hits, 1);
    }

    #[test]
    fn a_reading_behind_one_that_is_too_old_is_of_use_before_it_is_a_minute_old() {
        let mut readings = Readings::default();
        readings.since(at(0), reading("a", 0, 0));
        readings.since(at(61), reading("a", 1_000, 0));
        let later = Moment::default().after(Duration::from_millis(120_500));
        assert_eq!(readings.since(later, reading("a", 1_010, 0)).unwrap().hits, 10);
    }

    #[test]
    fn another_run_of_a_server_is_another_beginning() {
        let mut readings = Readings::default();
        readings.since(at(0), reading("a", 1_000, 1_000));
        assert_eq!(readings.since(at(6), reading("b", 5_000, 1)), None);
        let later = readings.since(at(7), reading("b", 5_003, 2)).unwrap();
        assert_eq!((later.hits, later.misses), (3, 1));
        // As after CONFIG RESETSTAT.
        let reset = readings.since(at(8), reading("b", 2, 0)).unwrap();
        assert_eq!((reset.hits, reset.misses), (2, 0));
        assert_eq!(Counters::default().hit_rate(), None);
    }
}

//! Decides when a node has failed so often lately that it is to be left alone.

use std::time::Duration;

use crate::{clock::Moment, sync::Mutex};

/// How far back failures count.
const WINDOW: Duration = Duration::from_secs(2);

const BUCKETS: usize = 8;

/// One failure is chance, and a lone caller is to notice no more than a handful.
const FAILURES: u32 = 3;

/// A node that has answered nobody for so long is silent, however well it answered before.
const SILENT: Duration = Duration::from_millis(250);

/// The failures of one node over a sliding window.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    buckets: [Bucket; BUCKETS],
    answered: Moment,
    /// How many calls have failed since then.
    unanswered: u32,
}

#[derive(Debug, Default, Clone, Copy)]
struct Bucket {
    slice: u128,
    calls: u32,
    failures: u32,
}

impl Breaker {
    /// Takes note of a call. Answers whether the node is now to be left alone: it failed three times or more,
    /// and at least every other time, or for too long without an answer in between.
    pub(super) fn record(&self, now: Moment, failed: bool) -> bool {
        let slice = now.since(Moment::default()).as_millis() / (WINDOW.as_millis() / BUCKETS as u128);
        let mut window = self.0.lock();
        let Window { buckets, answered, unanswered } = &mut *window;
        let bucket = &mut buckets[usize::try_from(slice % BUCKETS as u128).unwrap_or(0)];
        if bucket.slice != slice {
            *bucket = Bucket { slice, ..Bucket::default() };
        }
        bucket.calls += 1;
        bucket.failures += u32::from(failed);
        if !failed {
            (*answered, *unanswered) = (now, 0);
            return false;
        }
        *unanswered += 1;
        let silent = *unanswered >= FAILURES && now.since(*answered) >= SILENT;
        let recent = buckets.iter().filter(|bucket| bucket.slice + BUCKETS as u128 > slice);
        let (calls, failures) = recent
            .fold((0, 0), |(calls, failures), bucket| (calls + bucket.calls, failures + bucket.failures));
        failures >= FAILURES && (failures * 2 >= calls || silent)
    }

    /// Forgets everything: the node begins anew.
    pub(super) fn reset(&self) {
        *self.0.lock() = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::default().after(Duration::from_millis(ms))
    }

    #[test]
    fn a_handful_of_failures_opens() {
        let breaker = Breaker::default();
        let opened: Vec<bool> = (0..4).map(|at_ms| breaker.record(at(at_ms), true)).collect();
        assert_eq!(opened, [false, false, true, true]);
    }

    #[test]
    fn a_failure_among_many_answers_does_not() {
        let breaker = Breaker::default();
        for ms in 0..1000 {
            assert!(!breaker.record(at(ms), ms % 3 == 0), "{ms}");
        }
    }

    #[test]
    fn silence_after_many_answers_does() {
        let breaker = Breaker::default();
        for ms in 0..1000 {
            breaker.record(at(ms), false);
        }
        let opened = (1050..2000).find(|ms| breaker.record(at(*ms), true));
        assert_eq!(opened, Some(1249));
    }

    #[test]
    fn failures_between_answers_that_are_far_apart_do_not() {
        let breaker = Breaker::default();
        assert!((0..100).all(|n| !breaker.record(at(n * 260), n % 3 == 1)));
    }

    #[test]
    fn failures_further_apart_than_the_window_do_not() {
        let breaker = Breaker::default();
        assert!((0..100).all(|n| !breaker.record(at(n * 1000), true)));
    }

    #[test]
    fn what_was_before_a_reset_does_not_count() {
        let breaker = Breaker::default();
        breaker.record(at(0), true);
        breaker.record(at(0), true);
        breaker.reset();
        assert!(!breaker.record(at(1), true));
    }
}

//! Decides when a node has failed so often lately that it is to be left alone.

use std::{
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::Duration,
};

use crate::{
    clock::{Latest, Moment},
    sync::Mutex,
};

/// How far back failures count.
const WINDOW: Duration = Duration::from_secs(2);

const BUCKETS: usize = 8;

/// One failure is chance, and a lone caller is to notice no more than a handful.
const FAILURES: u32 = 3;

/// A node that has answered nobody for so long is silent, however well it answered before.
const SILENT: Duration = Duration::from_millis(250);

/// The failures of one node over a sliding window. An answer is counted without a lock: there are many, and an answer
/// alone never decides anything.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    buckets: [Bucket; BUCKETS],
    answered: Latest,
    /// How many calls have failed since then.
    unanswered: AtomicU32,
    /// Who begins a bucket anew, or decides, is alone.
    deciding: Mutex<()>,
}

#[derive(Debug, Default)]
struct Bucket {
    slice: AtomicU64,
    calls: AtomicU32,
    failures: AtomicU32,
}

impl Breaker {
    /// Takes note of a call. Answers whether the node is now to be left alone: it failed three times or more,
    /// and at least every other time, or for too long without an answer in between.
    pub(super) fn record(&self, now: Moment, failed: bool) -> bool {
        let slice = slice(now);
        let bucket = self.bucket(slice);
        bucket.calls.fetch_add(1, Relaxed);
        if !failed {
            self.answered.tell(now);
            if self.unanswered.load(Relaxed) > 0 {
                self.unanswered.store(0, Relaxed);
            }
            return false;
        }
        let _alone = self.deciding.lock();
        bucket.failures.fetch_add(1, Relaxed);
        let unanswered = self.unanswered.fetch_add(1, Relaxed) + 1;
        let silent = unanswered >= FAILURES && now.since(self.answered.get()) >= SILENT;
        let recent = self.buckets.iter().filter(|bucket| bucket.slice.load(Acquire) + BUCKETS as u64 > slice);
        let (calls, failures) = recent.fold((0, 0), |(calls, failures), bucket| {
            (calls + bucket.calls.load(Relaxed), failures + bucket.failures.load(Relaxed))
        });
        failures >= FAILURES && (failures * 2 >= calls || silent)
    }

    /// The bucket of `slice`, begun anew if it was that of an earlier one. An answer that another thread counts at this
    /// moment may be forgotten with what was before.
    fn bucket(&self, slice: u64) -> &Bucket {
        let bucket = &self.buckets[usize::try_from(slice % BUCKETS as u64).unwrap_or(0)];
        if bucket.slice.load(Acquire) < slice {
            let _alone = self.deciding.lock();
            if bucket.slice.load(Relaxed) < slice {
                bucket.calls.store(0, Relaxed);
                bucket.failures.store(0, Relaxed);
                bucket.slice.store(slice, Release);
            }
        }
        bucket
    }

    /// Forgets everything: the node begins anew.
    pub(super) fn reset(&self) {
        let _alone = self.deciding.lock();
        for bucket in &self.buckets {
            bucket.calls.store(0, Relaxed);
            bucket.failures.store(0, Relaxed);
        }
        self.unanswered.store(0, Relaxed);
    }
}

/// The number of the slice of time in which `now` lies; the first one is 1, as an unused bucket has 0.
fn slice(now: Moment) -> u64 {
    let slices = now.since(Moment::default()).as_millis() / (WINDOW.as_millis() / BUCKETS as u128);
    u64::try_from(slices).unwrap_or(u64::MAX - 1) + 1
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

//! How long a node has taken to answer lately: a histogram of the last half to whole minute, of a fixed size.

use std::{
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed},
    },
    time::Duration,
};

use crate::status::RoundTrips;

/// Buckets of an octave: a bucket is at most an eighth of its values wide.
const STEPS: usize = 8;

/// Up to 2^26 µs, more than a minute: no call takes longer.
const BUCKETS: usize = STEPS * 24;

const LONGEST: u64 = (1 << 26) - 1;

/// Two of them are looked at: the present one, and the one before.
const SLICE: Duration = Duration::from_secs(30);

/// Round trips of one node. Recording is an atomic addition.
#[derive(Debug)]
pub(super) struct Trips([Slice; 2]);

#[derive(Debug)]
struct Slice {
    number: AtomicU64,
    buckets: [AtomicU32; BUCKETS],
}

impl Default for Trips {
    fn default() -> Self {
        let slice =
            || Slice { number: AtomicU64::new(0), buckets: std::array::from_fn(|_| AtomicU32::new(0)) };
        Self([slice(), slice()])
    }
}

impl Trips {
    /// Takes note of a round trip that has ended `now`.
    pub(super) fn record(&self, now: Duration, took: Duration) {
        let number = number(now);
        let slice = self.slice(number);
        let before = slice.number.load(Acquire);
        // Whoever comes first begins the slice anew; a trip that another one records meanwhile may be forgotten.
        if before != number && slice.number.compare_exchange(before, number, AcqRel, Relaxed).is_ok() {
            slice.buckets.iter().for_each(|bucket| bucket.store(0, Relaxed));
        }
        slice.buckets[bucket(took)].fetch_add(1, Relaxed);
    }

    /// Adds what was recorded until `now` to `counts`.
    pub(super) fn add_to(&self, counts: &mut Counts, now: Duration) {
        let number = number(now);
        for slice in &self.0 {
            let of = slice.number.load(Acquire);
            if of == number || of + 1 == number {
                for (count, bucket) in counts.0.iter_mut().zip(&slice.buckets) {
                    *count += u64::from(bucket.load(Relaxed));
                }
            }
        }
    }

    fn slice(&self, number: u64) -> &Slice {
        &self.0[usize::from(!number.is_multiple_of(2))]
    }
}

/// How many round trips took how long.
#[derive(Debug)]
pub(super) struct Counts([u64; BUCKETS]);

impl Default for Counts {
    fn default() -> Self {
        Self([0; BUCKETS])
    }
}

impl Counts {
    pub(super) fn summary(&self) -> RoundTrips {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| self.quantile(share));
        RoundTrips { count: self.total(), p50, p95, p99 }
    }

    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// What a `share` of the round trips did not exceed, at most an eighth too much; nothing where there are none.
    fn quantile(&self, share: f64) -> Option<Duration> {
        let total = self.total();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank between 1 and the total"
        )]
        let rank = ((total as f64 * share).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        let at = self.0.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_micros(last(at)))
    }
}

/// The first one is 1, so that a slice that was never begun is none of them.
fn number(now: Duration) -> u64 {
    now.as_secs() / SLICE.as_secs() + 1
}

fn bucket(took: Duration) -> usize {
    let micros = u64::try_from(took.as_micros()).unwrap_or(LONGEST).min(LONGEST);
    let octave = micros.max(1).ilog2().saturating_sub(STEPS.ilog2());
    let step = usize::try_from(micros >> octave).unwrap_or(0);
    STEPS * usize::try_from(octave).unwrap_or(0) + step
}

/// The longest time that belongs to a bucket, in µs.
fn last(bucket: usize) -> u64 {
    let octave = (bucket / STEPS).saturating_sub(1);
    let step = (bucket - octave * STEPS) as u64;
    ((step + 1) << octave) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(trips: &Trips, now: u64) -> Counts {
        let mut counts = Counts::default();
        trips.add_to(&mut counts, Duration::from_secs(now));
        counts
    }

    #[test]
    fn a_bucket_holds_what_it_says_and_is_an_eighth_wide_at_most() {
        let mut before = 0;
        for micros in (0..5_000).chain((5_000..LONGEST).step_by(997)).chain([LONGEST]) {
            let at = bucket(Duration::from_micros(micros));
            let longest = last(at);
            assert!(longest >= micros && (longest - micros) * 8 <= micros, "{micros}: {longest}");
            assert!(at >= before, "{micros}");
            before = at;
        }
        assert_eq!(before, BUCKETS - 1);
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_what_was_recorded() {
        let trips = Trips::default();
        for micros in 1..=1_000 {
            trips.record(Duration::from_secs(5), Duration::from_micros(micros));
        }
        let counts = counts(&trips, 5);
        assert_eq!(counts.total(), 1_000);
        for (share, exact) in [(0.5, 500), (0.95, 950), (0.99, 990), (1.0, 1_000)] {
            let told = counts.quantile(share).unwrap().as_micros();
            assert!((exact..=exact + exact / 8).contains(&told), "{share}: {told}");
        }
        assert_eq!(Counts::default().quantile(0.5), None);
    }

    #[test]
    fn what_is_older_than_a_minute_is_forgotten() {
        let trips = Trips::default();
        for (now, expected) in [(0, 1), (29, 2), (31, 3), (59, 4), (61, 3), (130, 1)] {
            trips.record(Duration::from_secs(now), Duration::from_millis(1));
            assert_eq!(counts(&trips, now).total(), expected, "{now}");
        }
        assert_eq!(counts(&trips, 200).total(), 0);
    }
}

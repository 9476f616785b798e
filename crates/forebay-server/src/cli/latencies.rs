//! How long requests took.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Beyond an hour nothing is told apart.
const LONGEST: u64 = 3_600_000_000;

/// Lengths of time to three digits, in the room of about 200 kilobytes however many they are.
#[derive(Debug, Clone)]
pub(super) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(super) fn new() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order"))
    }

    pub(super) fn record(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros.max(1));
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that so many of a hundred did not exceed.
    pub(super) fn percentile(&self, percent: f64) -> Duration {
        Duration::from_micros(self.0.value_at_percentile(percent))
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.reset();
    }
}

//! How far a run is, and how long it is likely to go on.

use std::time::Duration;

use drive::Stopwatch;

/// The parts of a run, and what they are expected to take.
#[derive(Debug)]
pub struct Progress {
    watch: Stopwatch,
    parts: usize,
    begun: usize,
    /// What all parts are expected to take together.
    expected: Duration,
    /// What those are expected to take that are over, the one that runs included.
    over: Duration,
    current: Duration,
}

impl Progress {
    /// A run of parts that are expected to take so long.
    pub fn of(parts: &[Duration]) -> Self {
        Self {
            watch: Stopwatch::start(),
            parts: parts.len(),
            begun: 0,
            expected: parts.iter().sum(),
            over: Duration::ZERO,
            current: Duration::ZERO,
        }
    }

    /// Says on standard error that the next part begins, which is expected to take so long.
    pub fn begin(&mut self, name: &str, expected: Duration) {
        self.over += self.current;
        self.current = expected;
        self.begun += 1;
        let left = left(self.expected, self.over, self.watch.elapsed());
        let minutes = left.as_secs_f64() / 60.0;
        eprintln!("measuring: {name} ({} of {}, about {minutes:.1} minutes left)", self.begun, self.parts);
    }
}

/// What is left of what is `expected`, as much faster or slower as what is `over` went, which `took` so long.
fn left(expected: Duration, over: Duration, took: Duration) -> Duration {
    let left = expected.saturating_sub(over);
    if over.is_zero() { left } else { left.mul_f64(took.as_secs_f64() / over.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_goes_as_what_is_over_went() {
        let [ten, four, eight] = [10, 4, 8].map(Duration::from_secs);
        assert_eq!(left(ten, four, eight), Duration::from_secs(12));
        assert_eq!(left(ten, Duration::ZERO, Duration::ZERO), ten);
    }
}

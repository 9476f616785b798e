//! The one place of the benchmark where a clock is read.

use std::time::{Duration, Instant};

/// Started once, read often.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    #[expect(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long ago that was.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

//! The one place of the benchmark where a clock is read.

use std::time::{Duration, Instant};

/// How long `work` takes.
#[expect(clippy::disallowed_methods, reason = "the one place where the clock is read")]
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// Started once, read often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the one place where the clock is read")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

//! Waiting for something that happens in another process, for a bounded time.

use std::{
    thread,
    time::{Duration, Instant},
};

const STEP: Duration = Duration::from_millis(10);

/// Tries until there is a result or the time is over.
pub(crate) fn within<T>(patience: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let started = now();
    loop {
        let result = attempt();
        if result.is_some() || started.elapsed() > patience {
            return result;
        }
        thread::sleep(STEP);
    }
}

#[expect(clippy::disallowed_methods, reason = "other processes live by the machine's clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

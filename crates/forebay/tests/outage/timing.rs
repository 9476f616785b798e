//! Waiting, and how long something takes.

use std::time::{Duration, Instant};

use forebay::clock::Clock;
pub(crate) use forebay_rig::{least, median, timed};

pub(crate) async fn pass(span: Duration) {
    Clock::real().sleep(span).await;
}

/// How long it takes until `done`; `None` if longer than `patience`.
pub(crate) async fn until(patience: Duration, done: impl Fn() -> bool) -> Option<Duration> {
    let waiting = async {
        while !done() {
            pass(Duration::from_millis(1)).await;
        }
    };
    let (took, ended) = timed(Clock::real().timeout(patience, waiting)).await;
    ended.map(|()| took)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what callers wait is less than the clock of the library can tell"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

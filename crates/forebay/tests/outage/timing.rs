//! Waiting, and how long something takes.

use std::time::{Duration, Instant};

use forebay::clock::Clock;

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

/// What `work` gives, and how long it took.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let began = now();
    let done = work.await;
    (began.elapsed(), done)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what callers wait is less than the clock of the library can tell"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The least of five, or the first below `enough`: what else runs on the machine delays, and never speeds up.
pub(crate) async fn least(enough: Duration, attempt: impl AsyncFn() -> Duration) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        least = least.min(attempt().await);
        if least < enough {
            break;
        }
    }
    least
}

pub(crate) fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

//! How long something takes, on a machine that may be busy with something else.

use std::time::Duration;

use crate::patience::now;

/// What `work` gives, and how long it took.
pub async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let began = now();
    let done = work.await;
    (began.elapsed(), done)
}

/// The least of five, or the first below `enough`: what else runs on the machine delays, and never speeds up.
pub async fn least(enough: Duration, attempt: impl AsyncFn() -> Duration) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        least = least.min(attempt().await);
        if least < enough {
            break;
        }
    }
    least
}

/// The middle one of `spans`.
///
/// # Panics
///
/// If there is none.
pub fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans[spans.len() / 2]
}

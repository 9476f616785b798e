//! Callers that call at once.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};

use crate::stopwatch::Stopwatch;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lets so many callers call at once. How long each waited, and whether it had an answer.
///
/// # Panics
///
/// Panics if a call does.
pub async fn call_all(
    callers: usize,
    call: impl Fn(usize) -> BoxFuture<'static, bool>,
) -> Vec<(Duration, bool)> {
    let watch = Stopwatch::start();
    let calls = (0..callers).map(|number| {
        let call = call(number);
        tokio::spawn(async move {
            let answered = tokio::time::timeout(PATIENCE, call).await.unwrap_or(false);
            (watch.elapsed(), answered)
        })
    });
    let ended = join_all(calls.collect::<Vec<_>>()).await;
    ended.into_iter().map(|call| call.expect("no caller panics")).collect()
}

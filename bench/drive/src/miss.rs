//! One read of what nobody has.

use std::{sync::Arc, time::Duration};

use contest::{Origin, PAYLOAD, Shared};

use crate::{Cost, Miss, stopwatch::Stopwatch};

/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads it.
pub async fn miss(process: &Arc<dyn Shared>, Miss { key }: Miss) -> Cost {
    let watch = Stopwatch::start();
    let read = process.read(key, Origin::quick(PAYLOAD));
    let answered = tokio::time::timeout(PATIENCE, read).await.is_ok_and(|version| version.is_some());
    Cost { milliseconds: watch.elapsed().as_secs_f64() * 1_000.0, answered }
}

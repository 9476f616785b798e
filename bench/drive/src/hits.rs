//! Reads of what is there.

use std::sync::Arc;

use contest::{Origin, Shared};
use futures::future::join_all;

use crate::{Fill, Hits, Rate, stopwatch::Stopwatch};

/// From one key to the next: it comes to every key, however many there are, as long as it does not divide their number.
const STRIDE: usize = 7919;

/// Loads what is going to be read.
///
/// # Panics
///
/// Panics if a task does.
pub async fn fill(process: &Arc<dyn Shared>, Fill { keys, bytes }: Fill) -> Rate {
    let all = Hits { tasks: 1, count: keys, keys, bytes };
    let filled = hits(std::slice::from_ref(process), all).await;
    Rate { wrong: filled.wrong.abs_diff(keys as u64), ..filled }
}

/// Reads as fast as it goes, with the tasks shared out to all `processes`.
///
/// # Panics
///
/// Panics if a task does.
pub async fn hits(processes: &[Arc<dyn Shared>], order: Hits) -> Rate {
    let Hits { tasks, count, keys, bytes } = order;
    let origin = Origin::quick(bytes);
    let watch = Stopwatch::start();
    let shares = (0..tasks).map(|first| {
        let (process, origin) = (processes[first % processes.len()].clone(), origin.clone());
        let keys = (first..count).step_by(tasks).map(move |number| key(bytes, number * STRIDE % keys));
        tokio::spawn(async move {
            let mut errors = 0;
            for key in keys {
                errors += u64::from(process.read(key, origin.clone()).await.is_none());
            }
            errors
        })
    });
    let ended = join_all(shares.collect::<Vec<_>>()).await;
    let errors: u64 = ended.into_iter().map(|errors| errors.expect("no task panics")).sum();
    Rate { per_second: count as f64 / watch.elapsed().as_secs_f64(), wrong: errors + origin.loads() }
}

/// What is read: `number` in six digits or more.
pub fn key(bytes: usize, number: usize) -> String {
    format!("hit-{bytes}-{number:06}")
}

//! Locks that are taken and freed for as long as the soak goes on, or until that was done a million times.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use forebay_trials::hold::Laps;
use futures::future::join_all;

use crate::{Soak, pause};

/// How often in all.
const MOST: u64 = 1_000_000;

/// How often between two looks at the time.
const STRETCH: u64 = 1_000;

/// With the shortest life that a lock may have.
const LIFE_MS: u64 = 100;

/// Plays in every process. Returns what was wrong.
pub(crate) async fn play(soak: &Soak) -> Vec<String> {
    join_all((0..soak.workers.len()).map(|process| run(soak, process))).await.concat()
}

async fn run(soak: &Soak, process: usize) -> Vec<String> {
    let name = format!("laps-{process}");
    let mut disorder = 0;
    while !soak.is_over() && soak.counts.laps.load(Relaxed) < MOST {
        let laps = Laps { name: name.clone(), life_ms: LIFE_MS, times: STRETCH };
        let lapped = soak.workers[process].laps(laps).await;
        soak.counts.laps.fetch_add(lapped.had, Relaxed);
        disorder += lapped.disorder;
        // The soak is about what goes on, not about how fast.
        pause(Duration::from_millis(50)).await;
    }
    (disorder > 0)
        .then(|| format!("{disorder} fences of {name} were not above the one before"))
        .into_iter()
        .collect()
}

/// The keys of locks that are there although nobody holds any.
pub(crate) async fn left(soak: &Soak) -> Vec<String> {
    pause(Duration::from_millis(2 * LIFE_MS)).await;
    let keys = soak.redis.call(&["KEYS", "lock:*"]);
    keys.lines().filter(|key| !key.is_empty()).map(|key| format!("{key} is left")).collect()
}

//! Invalidations by pattern beside each other, and at the end of the process.

use std::sync::Arc;

use futures::FutureExt;

use super::{cache, process, settle, stores::Gated};
use crate::cache::{Cache, Matched};

/// Something over a store that makes no change while its gate is closed, with as many entries.
async fn gated(entries: u64) -> (Cache<u64>, Arc<Gated>) {
    let (common, _) = cache();
    for n in 0..entries {
        common.put(n.to_string(), n).await.expect("what is small fits");
    }
    let gated = Gated::over(common.inner.backend.clone());
    let gates = gated.clone();
    (process(&common, common.options().clone(), |_| gated), gates)
}

fn done(invalidated: usize, complete: bool) -> Matched {
    Matched::Done { invalidated, deferred: 0, complete }
}

#[tokio::test]
async fn one_at_a_time_runs_in_a_space() {
    let (cache, gates) = gated(2).await;
    gates.change.close();
    let first = tokio::spawn({
        let cache = cache.clone();
        async move { cache.invalidate_matching("0").await.unwrap() }
    });
    settle().await;
    let second = cache.invalidate_matching("*").now_or_never().expect("it waits for nothing");
    assert_eq!(second.unwrap(), Matched::Busy);
    gates.change.reopen();
    assert_eq!(first.await.unwrap(), done(1, true));
    assert_eq!(cache.invalidate_matching("*").await.unwrap(), done(1, true));
}

#[tokio::test]
async fn one_that_its_caller_has_left_keeps_its_place_to_its_end() {
    let (cache, gates) = gated(2).await;
    gates.change.close();
    let left = tokio::spawn({
        let cache = cache.clone();
        async move { cache.invalidate_matching("*").await }
    });
    settle().await;
    left.abort();
    settle().await;
    let second = cache.invalidate_matching("*").now_or_never().expect("it waits for nothing");
    assert_eq!(second.unwrap(), Matched::Busy);
    gates.change.reopen();
    settle().await;
    assert_eq!(cache.invalidate_matching("*").await.unwrap(), done(0, true));
}

#[tokio::test]
async fn a_shutdown_ends_it_at_the_next_page() {
    let (cache, gates) = gated(1_200).await;
    gates.change.close();
    let running = tokio::spawn({
        let cache = cache.clone();
        async move { cache.invalidate_matching("*").await.unwrap() }
    });
    settle().await;
    cache.inner.shared.context.tasks.stop();
    gates.change.reopen();
    assert_eq!(running.await.unwrap(), done(500, false));
}

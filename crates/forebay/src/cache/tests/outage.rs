//! A store that cannot be asked is nobody's error.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use super::{cache, process, settle, stores::Gone};
use crate::cache::{Cache, Invalidated, Put};

async fn without_store() -> Cache<u64> {
    let (common, _) = cache();
    process(&common, common.options().clone(), |_| Arc::new(Gone))
}

#[tokio::test]
async fn what_is_loaded_stays_in_process_memory() {
    let cache = without_store().await;
    assert_eq!(*cache.get_or_load("a", async |_| Ok::<_, Infallible>(1)).await.unwrap(), 1);
    assert_eq!(*cache.get_or_load("a", async |_| Ok::<_, Infallible>(2)).await.unwrap(), 1);
    assert_eq!(cache.stats().memory_hits, 1);
}

#[tokio::test]
async fn changes_are_deferred_and_done_in_this_process() {
    let cache = without_store().await;
    cache.get_or_load("a", async |_| Ok::<_, Infallible>(1)).await.unwrap();
    assert_eq!(cache.invalidate("a").await, Invalidated::Deferred);
    assert_eq!(cache.put("a", 3).await.unwrap(), Put::Deferred);
    assert_eq!(*cache.get_or_load("a", async |_| Ok::<_, Infallible>(2)).await.unwrap(), 2);
}

#[tokio::test]
async fn loads_are_bounded_for_the_whole_process() {
    let (cache, begun) = (without_store().await, Arc::new(AtomicUsize::new(0)));
    for id in ["a", "b", "c", "d"] {
        let (cache, begun) = (cache.clone(), begun.clone());
        let endless = async move |_| {
            begun.fetch_add(1, SeqCst);
            Ok::<u64, Infallible>(std::future::pending().await)
        };
        tokio::spawn(async move { cache.get_or_load(id, endless).await });
    }
    settle().await;
    assert_eq!(begun.load(SeqCst), 2);
}

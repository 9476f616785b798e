//! Races that no store of ours is slow enough for: forced, and at random, over stores that take their time.

mod outage;
mod races;
mod register;
mod stores;

use std::{sync::Arc, time::Duration};

use super::{Cache, backend::Backend, flights::Flights, inner::Inner, options::Options, stats::Counts};
use crate::{
    Forebay,
    clock::{Clock, Manual},
    sync::atomic::AtomicU64,
};

const LIFE: Duration = Duration::from_secs(60);

/// A cache on the memory store, and its time.
async fn cache() -> (Cache<u64>, Manual) {
    let (clock, time) = Clock::manual();
    let forebay = Forebay::builder("tests").memory().clock(clock).outage_concurrency(2).build().await.unwrap();
    (forebay.cache("tests", LIFE).jitter(0.0).build().unwrap(), time)
}

/// The same space as another process sees it: its own memory and flights, and `store` on the way to the
/// common one.
fn process(like: &Cache<u64>, options: Options, store: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>) -> Cache<u64> {
    let inner = &like.inner;
    Cache::from(Inner {
        name: inner.name.clone(),
        space: inner.shared.memory.space(),
        codec: inner.codec.clone(),
        backend: store(inner.backend.clone()),
        shared: inner.shared.clone(),
        flights: Flights::new(),
        bulkhead: None,
        breaker: None,
        counts: Counts::default(),
        mean: AtomicU64::new(0),
        options,
    })
}

/// Lets everything happen that needs no time.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

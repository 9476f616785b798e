//! Races that no store of ours is slow enough for: forced, and at random, over stores that take their time.

mod early;
mod matching;
mod outage;
mod pilots;
mod races;
mod register;
mod stores;
mod tags;

use std::sync::Arc;

use super::{
    Cache,
    backend::Backend,
    fixture::{self, LIFE},
    memory::{Leases, MemoryBackend, Register, Tags},
    options::Options,
};
use crate::{
    clock::{Clock, Manual},
    codec::MessagePack,
    key::{Keys, Name},
};

/// A cache on a memory store, and its time.
fn cache() -> (Cache<u64>, Manual) {
    let (clock, time) = Clock::manual();
    let shared = fixture::shared(tokio::runtime::Handle::current(), clock.clone());
    let (name, keys) = (Name::new("tests").expect("a name"), Keys::new(shared.context.app.clone()));
    let tags = Arc::new(Tags::new(clock.clone()));
    let store = MemoryBackend {
        register: Register::new(name.clone(), keys.clone(), tags, LIFE),
        name,
        version: 1,
        space: shared.memory.space(),
        keys,
        memory: shared.memory.clone(),
        leases: Arc::new(Leases::new(clock.clone())),
        clock,
        wake: shared.context.wake.clone(),
    };
    let options = Options { jitter: 0.0, ..Options::new(LIFE) };
    (Cache::from(fixture::inner(shared, options, MessagePack, Arc::new(store))), time)
}

/// The same space as another process sees it: its own memory and flights, and `store` on the way to the
/// common one.
fn process(
    like: &Cache<u64>,
    options: Options,
    store: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>,
) -> Cache<u64> {
    let inner = &like.inner;
    Cache::from(fixture::inner(inner.shared.clone(), options, MessagePack, store(inner.backend.clone())))
}

/// Lets everything happen that needs no time.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

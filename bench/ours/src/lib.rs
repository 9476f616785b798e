//! Forebay as its users build it, on its memory store and over Redis.

mod denied;
mod grown;
mod known;
pub mod limits;
mod lock;
mod once;
mod shared;
mod visitors;
mod watched;

use std::{any::Any, convert::Infallible, fmt, hint::black_box, sync::Arc, time::Duration};

use contest::{Coalesce, Hit, Hold, LIFE, Origin, Payload, at_once, payload};
use forebay::{Builder, Forebay, cache::Cache, status::Status};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

use self::watched::Watch;
pub use self::{
    denied::Denied,
    grown::{Compression, Grown},
    known::Known,
    lock::{End, Locker},
    once::{Claimer, Payments},
    shared::OverRedis,
    visitors::Recorder,
    watched::Watched,
};

const NAME: &str = "Forebay `get_or_load`";

/// Room for all entries of the largest row, in the store and in process memory.
const BUDGET: u64 = 256 << 20;

/// A cache over the memory store.
pub struct Ours {
    cache: Cache<Payload>,
    forebay: Forebay,
    runtime: Runtime,
}

/// Whether values stay in process memory, beside the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    On,
    Off,
}

impl Ours {
    /// An empty cache.
    ///
    /// # Panics
    ///
    /// Panics if there is no thread to be had for its runtime.
    pub fn new() -> Self {
        Self::build(Level::On, None)
    }

    /// A cache with a loaded entry for each of `keys`.
    ///
    /// # Panics
    ///
    /// As [`Ours::new`], and if the budget does not hold them.
    pub fn filled(keys: &[String]) -> Self {
        Self::fill(Self::build(Level::On, None), Level::On, keys)
    }

    fn watched(keys: &[String]) -> Self {
        Self::fill(Self::build(Level::On, Some(Watch::new())), Level::On, keys)
    }

    fn build(level: Level, watch: Option<Watch>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .expect("a benchmark may start a thread");
        let builder = Forebay::builder("bench").memory().local_bytes(BUDGET);
        let builder = watch.iter().fold(builder, |builder, watch| watch.over(builder));
        let forebay = runtime.block_on(builder.build()).expect("the settings are valid");
        if let Some(watch) = watch {
            runtime.spawn(watch.go_on(forebay.clone()));
        }
        let local = if level == Level::On { LIFE } else { Duration::ZERO };
        let cache = forebay.cache::<Payload>("catalog:product", LIFE).local_time_to_live(local);
        Self { cache: cache.build().expect("the options are valid"), forebay, runtime }
    }

    fn fill(ours: Self, level: Level, keys: &[String]) -> Self {
        ours.runtime.block_on(async {
            for (number, key) in keys.iter().enumerate() {
                let load = ours.cache.get_or_load(key, async move |_| Ok::<_, Infallible>(payload(number)));
                load.await.expect("the loader has every value");
            }
            // A caller may have his answer before it is stored.
            while ours.cache.stats().fills < keys.len() as u64 {
                tokio::task::yield_now().await;
            }
        });
        let levels = if level == Level::On { 2 } else { 1 };
        let least = (levels * keys.len() * contest::PAYLOAD) as u64;
        assert!(
            ours.forebay.local_bytes() > least,
            "the budget holds everything, so that nothing is evicted"
        );
        ours
    }
}

impl Default for Ours {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Ours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ours").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl Hit for Ours {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let load = self.cache.get_or_load(&keys[number as usize], async |load| missed(load.id()));
                black_box(load.await.expect("it is in process memory"));
            }
        });
        assert_eq!(self.cache.stats().store_hits, 0, "every read is a hit in process memory");
    }
}

#[cold]
fn missed(id: &str) -> Result<Payload, Infallible> {
    panic!("{id} is not in process memory")
}

/// Forebay as a holder of entries in process memory.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "Forebay process memory"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        Box::new(Ours::filled(keys))
    }

    fn hold_elsewhere(&self, keys: &[String]) -> Option<Box<dyn Any>> {
        Some(Box::new(Ours::fill(Ours::build(Level::Off, None), Level::Off, keys)))
    }
}

impl Coalesce for Ours {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Arc<Payload>> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(key, async move |_| Ok::<_, Infallible>(origin.load().await));
            load.await.expect("the origin answers")
        })
    }
}

/// A process over the Redis at `url`, once it hears the others.
async fn connect(url: &str) -> Forebay {
    ready(Forebay::builder("bench").redis(url)).await
}

/// What is built, once it hears the others.
async fn ready(builder: Builder) -> Forebay {
    let forebay = builder.build().await.expect("the rig's URL is valid");
    while !matches!(forebay.status(), Status::Redis(status) if status.usable && status.hears) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    forebay
}

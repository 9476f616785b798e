//! Forebay's cache where there is much of something: of keys, of bytes in a value, of callers.

use std::{convert::Infallible, fmt, hint::black_box, time::Duration};

use contest::{LIFE, Origin, at_once};
use forebay::{
    Forebay,
    cache::{self, Cache, Put},
    status::Status,
};
use futures::future::BoxFuture;
use serde_bytes::ByteBuf;
use tokio::runtime::Runtime;

/// For how long a value is kept that may be handed out although it is stale.
const STALE: Duration = Duration::from_secs(600);

/// A crowd on a busy machine is slow, which is what is measured.
const ROOMY: Duration = Duration::from_secs(5);

/// Twice the largest value.
const MOST_BYTES: usize = 2 << 20;

/// What a loader says where there is to be a hit.
const GONE: &str = "it is not there";

/// Whether large values are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Above 16 KiB, as by default.
    Usual,
    /// None is.
    Off,
}

/// A cache of one process.
pub struct Grown {
    cache: Cache<ByteBuf>,
    forebay: Forebay,
}

impl Grown {
    /// A process over the Redis at `url` that keeps nothing in its memory, jitters lives, and keeps what is stale.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL, or no name for a space.
    pub fn over_redis(runtime: &Runtime, url: &str, space: &str, compression: Compression) -> Self {
        let builder = Forebay::builder("bench").redis(url).redis_budget(ROOMY);
        let grown = Self::build(runtime, builder, space, |cache| {
            let cache = cache.local_time_to_live(Duration::ZERO).jitter(0.1).stale_for(STALE);
            if compression == Compression::Off { cache.compress_above(usize::MAX) } else { cache }
        });
        grown.wait_for_redis(runtime);
        grown
    }

    /// A process by itself, whose memory has room for so many bytes.
    ///
    /// # Panics
    ///
    /// Panics if that is too little to begin with.
    pub fn in_memory(runtime: &Runtime, bytes: u64) -> Self {
        Self::build(runtime, Forebay::builder("bench").memory().local_bytes(bytes), "growth", |cache| {
            cache.local_time_to_live(LIFE)
        })
    }

    fn build(
        runtime: &Runtime,
        builder: forebay::Builder,
        space: &str,
        options: impl FnOnce(cache::Builder<ByteBuf>) -> cache::Builder<ByteBuf>,
    ) -> Self {
        let forebay = runtime.block_on(builder.build()).expect("the settings are valid");
        let cache = options(forebay.cache(space, LIFE).max_bytes(MOST_BYTES)).build();
        Self { cache: cache.expect("the options are valid"), forebay }
    }

    /// Waits until Redis can be asked, and the others are heard.
    pub fn wait_for_redis(&self, runtime: &Runtime) {
        runtime.block_on(async {
            while !matches!(self.forebay.status(), Status::Redis(status) if status.usable && status.hears) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    /// Stores a value.
    ///
    /// # Panics
    ///
    /// Panics if it is not stored.
    pub fn put(&self, runtime: &Runtime, id: &str, value: &[u8]) {
        let put = runtime.block_on(self.cache.put(id, ByteBuf::from(value)));
        assert_eq!(put.expect("the value is small enough"), Put::Stored, "{id} is stored");
    }

    /// Loads a value for each of `ids` into process memory.
    ///
    /// # Panics
    ///
    /// Panics if it has no room for them.
    pub fn load_all(&self, runtime: &Runtime, ids: &[String], value: impl Fn(usize) -> Vec<u8>) {
        runtime.block_on(async {
            for (number, id) in ids.iter().enumerate() {
                let value = ByteBuf::from(value(number));
                let load = self.cache.get_or_load(id, async move |_| Ok::<_, Infallible>(value));
                load.await.expect("the loader has every value");
            }
            // A caller may have his answer before it is stored.
            while self.cache.stats().fills < ids.len() as u64 {
                tokio::task::yield_now().await;
            }
        });
        self.read_all(ids, &(0..ids.len() as u32).collect::<Vec<_>>());
    }

    /// One caller's read of a value that is there. Whether it was.
    pub fn read(&self, id: String) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move { cache.get_or_load(id, async |_| Err::<ByteBuf, _>(GONE)).await.is_ok() })
    }

    /// One caller's read of what is loaded from `origin`. Whether there was a value.
    pub fn load(&self, id: String, origin: Origin) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(id, async move |_| {
                Ok::<_, Infallible>(ByteBuf::from(origin.load().await.to_vec()))
            });
            load.await.is_ok()
        })
    }

    /// Reads `ids` in `order`, each of which is in process memory.
    ///
    /// # Panics
    ///
    /// Panics if one is not.
    pub fn read_all(&self, ids: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let load = self.cache.get_or_load(&ids[number as usize], async |_| Err::<ByteBuf, _>(GONE));
                black_box(load.await.expect("it is in process memory"));
            }
        });
    }
}

impl fmt::Debug for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grown").field("cache", &self.cache).finish_non_exhaustive()
    }
}

//! Forebay over Redis, as one of several processes.

use std::{convert::Infallible, fmt, time::Duration};

use contest::{LIFE, Origin, Payload, Shared};
use forebay::{Forebay, cache::Cache, status::Status};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// One process over Redis.
pub struct OverRedis {
    cache: Cache<Payload>,
    forebay: Forebay,
}

impl OverRedis {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        runtime.block_on(async {
            let forebay = Forebay::builder("bench").redis(url).build().await.expect("the rig's URL is valid");
            let cache = forebay.cache::<Payload>("catalog:product", LIFE).build();
            let process = Self { cache: cache.expect("the options are valid"), forebay };
            while !process.is_ready() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            process
        })
    }

    /// One caller's read of `key`, whose origin fails after its time. Whether the caller was told.
    pub fn fail(&self, key: String, origin: Origin) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(key, async move |_| {
                origin.load().await;
                Err::<Payload, _>("the origin fails")
            });
            load.await.is_err()
        })
    }

    /// Whether Redis can be asked, and the others are heard.
    pub fn is_ready(&self) -> bool {
        matches!(self.forebay.status(), Status::Redis(status) if status.usable && status.hears)
    }

    /// Whether Redis has been found out of use.
    pub fn is_alone(&self) -> bool {
        matches!(self.forebay.status(), Status::Redis(status) if !status.usable)
    }
}

impl Shared for OverRedis {
    fn name(&self) -> &'static str {
        "Forebay over Redis"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(key, async move |_| Ok::<_, Infallible>(origin.load().await));
            load.await.is_ok()
        })
    }
}

impl fmt::Debug for OverRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverRedis").field("cache", &self.cache).finish_non_exhaustive()
    }
}

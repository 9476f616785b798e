//! Forebay over Redis, as one of several processes.

use std::{convert::Infallible, fmt, time::Duration};

use contest::{Article, LIFE, Origin, Shared};
use forebay::{
    Forebay,
    cache::{self, Cache, Invalidated},
    status::Status,
};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// One process over Redis.
pub struct OverRedis {
    cache: Cache<Article>,
    forebay: Forebay,
}

/// For how long a value is kept that may be handed out although it is stale.
const STALE: Duration = Duration::from_secs(600);

/// How long a request may take where it is not asked what happens then.
const ROOMY: Duration = Duration::from_secs(1);

impl OverRedis {
    /// The name in the tables.
    pub const NAME: &str = "Forebay";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self::build(runtime, Forebay::builder("bench").redis(url), |cache| cache)
    }

    /// A process that keeps nothing in its memory, jitters lives, keeps what is stale, and compresses nothing. Redis
    /// may be slow, where the machine is.
    ///
    /// # Panics
    ///
    /// As [`OverRedis::new`].
    pub fn without_memory(runtime: &Runtime, url: &str) -> Self {
        let builder = Forebay::builder("bench").redis(url).redis_budget(ROOMY);
        Self::build(runtime, builder, |cache| {
            cache.local_time_to_live(Duration::ZERO).jitter(0.1).stale_for(STALE).compress_above(usize::MAX)
        })
    }

    fn build(
        runtime: &Runtime,
        builder: forebay::Builder,
        options: impl FnOnce(cache::Builder<Article>) -> cache::Builder<Article>,
    ) -> Self {
        let forebay = runtime.block_on(crate::ready(builder));
        let cache = options(forebay.cache("articles", LIFE)).build();
        Self { cache: cache.expect("the options are valid"), forebay }
    }

    /// One caller's read of `key`, whose origin fails after its time. Whether the caller was told.
    pub fn fail(&self, key: String, origin: Origin) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(key, async move |_| {
                origin.load().await;
                Err::<Article, _>("the origin fails")
            });
            load.await.is_err()
        })
    }

    /// Whether Redis has been found out of use.
    pub fn is_alone(&self) -> bool {
        matches!(self.forebay.status(), Status::Redis(status) if !status.usable)
    }
}

impl Shared for OverRedis {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = cache.get_or_load(key, async move |_| Ok::<_, Infallible>(origin.article().await));
            load.await.ok().map(|article| article.version)
        })
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move { matches!(cache.invalidate(key).await, Invalidated::Everywhere) })
    }
}

impl fmt::Debug for OverRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverRedis").field("cache", &self.cache).finish_non_exhaustive()
    }
}

//! The asynchronous Redis store of cached, with its own settings, and its map in memory.

mod memory;

use std::fmt;

use cached::{AsyncRedisCache, ConcurrentCachedAsync, RedisCacheError};
use contest::{Article, LIFE, Origin, Shared};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

pub use self::memory::{Holder, Near};

/// One process.
#[derive(Clone)]
pub struct Cached(AsyncRedisCache<String, Article>);

impl Cached {
    /// The name in the tables.
    pub const NAME: &str = "`cached`";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        let builder = AsyncRedisCache::builder("cached").connection_string(url).ttl(LIFE);
        Self(runtime.block_on(builder.build()).expect("the rig's server answers"))
    }

    /// What its macro makes of a function.
    async fn get_or_load(&self, key: String, origin: Origin) -> Result<Article, RedisCacheError> {
        if let Some(article) = self.0.async_cache_get(&key).await? {
            return Ok(article);
        }
        let article = origin.article().await;
        self.0.async_cache_set(key, article.clone()).await?;
        Ok(article)
    }
}

impl Shared for Cached {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let process = self.clone();
        Box::pin(async move { process.get_or_load(key, origin).await.ok().map(|article| article.version) })
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let process = self.clone();
        Box::pin(async move { process.0.async_cache_delete(&key).await.is_ok() })
    }
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").finish_non_exhaustive()
    }
}

//! hitbox over Redis: one load of a key at a time in a process, nothing stale, everything else as it comes.

use std::{convert::Infallible, fmt, sync::Arc};

use contest::{Article, LIFE, Origin, Shared};
use futures::future::BoxFuture;
use hitbox::{
    CacheContext, CacheKey, Extractor,
    backend::CacheBackend,
    concurrency::BroadcastConcurrencyManager,
    policy::{ConcurrencyLimit, PolicyConfig},
};
use hitbox_fn::{Arg, Args, Cache, CacheableResponse, FnExtractor, cached};
use hitbox_redis::{ConnectionMode, RedisBackend};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

/// What stands before the id in a key, as it is named to the macro, too.
const ARTICLES: &str = "articles";

/// What it keeps has to be a type of the crate that caches.
#[derive(Debug, Clone, Serialize, Deserialize, CacheableResponse)]
struct Kept {
    article: Article,
}

type Loaded = Result<Kept, Infallible>;

#[cached(prefix = "articles", skip(origin))]
async fn load(id: String, origin: Origin) -> Result<Kept, Infallible> {
    // The key has it.
    drop(id);
    Ok(Kept { article: origin.article().await })
}

/// One process.
#[derive(Clone)]
pub(crate) struct Hitbox {
    cache: Arc<Cache<RedisBackend, BroadcastConcurrencyManager<Loaded>>>,
}

impl Hitbox {
    /// A process over the Redis at `url`, which it reaches with its first read.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub(crate) fn new(runtime: &Runtime, url: &str) -> Self {
        let _entered = runtime.enter();
        let redis = RedisBackend::builder().connection(ConnectionMode::single(url)).build();
        let policy = PolicyConfig::builder().ttl(LIFE).concurrency(ConcurrencyLimit::MIN).build();
        let cache = Cache::builder()
            .backend(redis.expect("the rig's URL is valid"))
            .policy(policy)
            .concurrency_manager(BroadcastConcurrencyManager::new());
        Self { cache: Arc::new(cache.build()) }
    }
}

impl Shared for Hitbox {
    fn name(&self) -> &'static str {
        "`hitbox`"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let Ok(kept) = load(key, origin).cache(&*cache).await;
            Some(kept.article.version)
        })
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let mut context = CacheContext::default().boxed();
            cache.backend().delete(&named(key).await, &mut context).await.is_ok()
        })
    }
}

/// The key that the macro makes of an id.
async fn named(id: String) -> CacheKey {
    let arguments = Args::new((Arg::new("id", id),));
    let (_, key) = FnExtractor::new(ARTICLES).get(arguments).await.into_cache_key();
    key
}

impl fmt::Debug for Hitbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hitbox").finish_non_exhaustive()
    }
}

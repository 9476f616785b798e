//! moka over Redis, as services put them together.

use std::{fmt, sync::Arc};

use contest::{Article, LIFE, Origin, Shared};
use futures::future::BoxFuture;
use moka::future::Cache;
use redis::{AsyncCommands, RedisError, aio::ConnectionManager};
use tokio::runtime::Runtime;

use crate::kept;

/// Room for all entries of any row.
const ROOM: u64 = 100_000;

/// One process: a connection that its client keeps up, with the client's own settings.
#[derive(Clone)]
pub struct MokaOverRedis {
    redis: ConnectionManager,
    near: Cache<String, Arc<Article>>,
}

impl MokaOverRedis {
    /// The name in the tables.
    pub const NAME: &str = "`moka` over `redis`";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self::with_room(runtime, url, ROOM)
    }

    /// A process that keeps nothing in its memory: moka only sees to it that readers of one key ask once.
    ///
    /// # Panics
    ///
    /// As [`MokaOverRedis::new`].
    pub fn without_memory(runtime: &Runtime, url: &str) -> Self {
        Self::with_room(runtime, url, 0)
    }

    fn with_room(runtime: &Runtime, url: &str, room: u64) -> Self {
        let near = Cache::builder().max_capacity(room).time_to_live(LIFE).build();
        Self { redis: crate::connect(runtime, url), near }
    }

    async fn get_or_load(mut self, key: String, origin: Origin) -> Result<Arc<Article>, Arc<RedisError>> {
        let far = async {
            match kept::decode(self.redis.get(&key).await?) {
                Some(article) => Ok(Arc::new(article)),
                None => kept::fill(&mut self.redis, &key, origin).await.map(Arc::new),
            }
        };
        self.near.try_get_with_by_ref(&key, far).await
    }
}

impl Shared for MokaOverRedis {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let read = self.clone().get_or_load(named(&key), origin);
        Box::pin(async move { read.await.ok().map(|article| article.version) })
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let (mut process, key) = (self.clone(), named(&key));
        Box::pin(async move {
            let forgotten = process.redis.del::<_, ()>(&key).await.is_ok();
            process.near.invalidate(&key).await;
            forgotten
        })
    }
}

fn named(key: &str) -> String {
    format!("moka:{key}")
}

impl fmt::Debug for MokaOverRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MokaOverRedis").finish_non_exhaustive()
    }
}

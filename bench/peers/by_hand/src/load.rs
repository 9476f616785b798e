//! The load that services copy: look, lock with `SET NX PX`, load, store, and ask again every 100 ms while
//! somebody else has the lock.

use std::{fmt, time::Duration};

use contest::{Article, Origin, Shared};
use futures::future::BoxFuture;
use rand::RngExt;
use redis::{AsyncCommands, ExistenceCheck, RedisResult, SetExpiry, SetOptions, aio::ConnectionManager};
use tokio::runtime::Runtime;

use crate::kept;

const PAUSE: Duration = Duration::from_millis(100);
const LOCK: u64 = 5_000;

/// One process: a connection that its client keeps up, with the client's own settings.
pub struct Locking(ConnectionManager);

impl Locking {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(crate::connect(runtime, url))
    }
}

impl Shared for Locking {
    fn name(&self) -> &'static str {
        "`redis`: `GET` and a lock"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>> {
        let mut redis = self.0.clone();
        Box::pin(
            async move { read(&mut redis, &named(&key), origin).await.ok().map(|article| article.version) },
        )
    }

    fn forget(&self, key: String) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move { redis.del::<_, ()>(named(&key)).await.is_ok() })
    }
}

fn named(key: &str) -> String {
    format!("locked:{key}")
}

async fn read(redis: &mut ConnectionManager, key: &str, origin: Origin) -> RedisResult<Article> {
    let lock = format!("{key}:lock");
    loop {
        if let Some(article) = kept::decode(redis.get(key).await?) {
            return Ok(article);
        }
        let token = rand::rng().random::<u64>();
        let alone =
            SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::PX(LOCK));
        let locked: Option<String> = redis.set_options(&lock, token, alone).await?;
        if locked.is_some() {
            let article = kept::fill(redis, key, origin).await?;
            let _: () = redis.del(&lock).await?;
            return Ok(article);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl fmt::Debug for Locking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locking").finish_non_exhaustive()
    }
}

//! The load that services copy: look, lock with `SET NX PX`, load, store, and ask again every 100 ms while
//! somebody else has the lock.

use std::{fmt, time::Duration};

use contest::{LIFE, Origin, PAYLOAD, Payload, Shared};
use futures::future::BoxFuture;
use rand::RngExt;
use redis::{AsyncCommands, ExistenceCheck, SetExpiry, SetOptions, aio::ConnectionManager};
use tokio::runtime::Runtime;

const PAUSE: Duration = Duration::from_millis(100);
const LOCK: u64 = 5_000;

/// One process: a connection that its client keeps up, with the client's own settings.
pub struct ByHand(ConnectionManager);

impl ByHand {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(crate::connect(runtime, url))
    }
}

impl Shared for ByHand {
    fn name(&self) -> &'static str {
        "Redis by hand"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move { read(&mut redis, &key, &origin).await.is_ok() })
    }
}

async fn read(redis: &mut ConnectionManager, key: &str, origin: &Origin) -> redis::RedisResult<Payload> {
    let lock = format!("lock:{key}");
    loop {
        let held: Option<Vec<u8>> = redis.get(key).await?;
        if let Some(bytes) = held.and_then(|bytes| <[u8; PAYLOAD]>::try_from(bytes).ok()) {
            return Ok(Payload::new(bytes));
        }
        let token = rand::rng().random::<u64>();
        let alone =
            SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::PX(LOCK));
        let locked: Option<String> = redis.set_options(&lock, token, alone).await?;
        if locked.is_some() {
            let value = origin.clone().load().await;
            let _: () = redis.set_ex(key, &value[..], LIFE.as_secs()).await?;
            let _: () = redis.del(&lock).await?;
            return Ok(value);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl fmt::Debug for ByHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByHand").finish_non_exhaustive()
    }
}

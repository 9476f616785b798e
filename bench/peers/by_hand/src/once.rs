//! The idempotency that services copy: `SET NX PX` with a look at what is there, and `SET` when it is done.

use std::fmt;

use contest::{BRIEF, PAYLOAD, Step};
use futures::future::BoxFuture;
use redis::{AsyncCommands, ExistenceCheck, RedisResult, SetExpiry, SetOptions, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const SET_AND_GET: &str = "`SET NX`, `GET`, `SET` by hand";

const RUNNING: &[u8] = b"running";

/// One process that does something once.
#[derive(Clone)]
pub struct Once(ConnectionManager);

impl Once {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(crate::connect(runtime, url))
    }
}

impl Step for Once {
    fn name(&self) -> &'static str {
        SET_AND_GET
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move { once(&mut redis, &contest::payment(number)).await.unwrap_or(false) })
    }
}

/// Whether it was done for the first time.
async fn once(redis: &mut ConnectionManager, name: &str) -> RedisResult<bool> {
    let key = format!("idempotency:bench:{{{name}}}");
    let life = SetExpiry::PX(BRIEF.as_millis() as u64);
    let options = SetOptions::default().with_expiration(life);
    let mut begin = redis::pipe();
    begin.set_options(&key, RUNNING, options.clone().conditional_set(ExistenceCheck::NX)).get(&key);
    let (begun, _there): (Option<String>, Vec<u8>) = begin.query_async(redis).await?;
    if begun.is_some() {
        let record = [7; PAYLOAD];
        let _: () = redis.set_options(&key, &record[..], options).await?;
    }
    Ok(begun.is_some())
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

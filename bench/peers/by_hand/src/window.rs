//! The window that everybody copies: a sorted set with a member for each call.

use std::{fmt, sync::Arc};

use contest::{Check, Window, Windows};
use futures::future::BoxFuture;
use rand::RngExt;
use redis::{Script, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const SORTED_SET: &str = "sorted set by hand";

const SNIPPET: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - ARGV[1] * 1000)
local admitted = redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[2])
if admitted then
    redis.call('ZADD', KEYS[1], now, ARGV[3])
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return admitted and 1 or 0";

/// One process that calls the script for one window after the other.
#[derive(Clone)]
pub struct SortedSet {
    redis: ConnectionManager,
    script: Arc<Script>,
    windows: &'static [Window],
}

impl SortedSet {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str, windows: Windows) -> Self {
        let redis = crate::connect(runtime, url);
        Self { redis, script: Arc::new(Script::new(SNIPPET)), windows: windows.each() }
    }

    async fn admits(&mut self, subject: &str, window: &Window) -> redis::RedisResult<bool> {
        let milliseconds = window.span.as_millis() as u64;
        let mut call = self.script.key(format!("window:{milliseconds}:{subject}"));
        call.arg(milliseconds).arg(window.limit).arg(rand::rng().random::<u64>());
        call.invoke_async(&mut self.redis).await
    }
}

impl Check for SortedSet {
    fn name(&self) -> &'static str {
        SORTED_SET
    }

    fn check(&self, subject: String) -> BoxFuture<'static, bool> {
        let mut process = self.clone();
        Box::pin(async move {
            for window in process.windows {
                if !matches!(process.admits(&subject, window).await, Ok(true)) {
                    return false;
                }
            }
            true
        })
    }
}

impl fmt::Debug for SortedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedSet").field("windows", &self.windows).finish_non_exhaustive()
    }
}

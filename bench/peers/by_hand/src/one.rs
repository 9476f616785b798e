//! The cheapest script that keeps something for a while: what any check by a script costs at least.

use std::{fmt, sync::Arc};

use contest::Check;
use futures::future::BoxFuture;
use redis::{Script, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const ONE_COMMAND: &str = "one command in a script";

const KEEP: &str = "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])";

/// One process that keeps something for each subject, and limits nothing.
#[derive(Clone)]
pub struct OneCommand {
    redis: ConnectionManager,
    script: Arc<Script>,
}

impl OneCommand {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self { redis: crate::connect(runtime, url), script: Arc::new(Script::new(KEEP)) }
    }
}

impl Check for OneCommand {
    fn name(&self) -> &'static str {
        ONE_COMMAND
    }

    fn check(&self, subject: String) -> BoxFuture<'static, bool> {
        let Self { mut redis, script } = self.clone();
        Box::pin(async move {
            let mut call = script.key(format!("keep:{subject}"));
            let kept: redis::RedisResult<()> = call.arg(1).arg(60_000).invoke_async(&mut redis).await;
            kept.is_ok()
        })
    }
}

impl fmt::Debug for OneCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneCommand").finish_non_exhaustive()
    }
}

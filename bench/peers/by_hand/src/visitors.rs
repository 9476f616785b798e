//! The count of visitors that services copy: `PFADD` for each of them.

use std::fmt;

use contest::Step;
use futures::future::BoxFuture;
use redis::{AsyncCommands, RedisResult, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables, with so many tasks.
pub const PFADD: &str = "`PFADD` by hand, 64 tasks";

/// One process that counts visitors.
#[derive(Clone)]
pub struct Visitors(ConnectionManager);

impl Visitors {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(crate::connect(runtime, url))
    }
}

impl Step for Visitors {
    fn name(&self) -> &'static str {
        PFADD
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move {
            let added: RedisResult<bool> = redis.pfadd("visitors:today", contest::visitor(number)).await;
            added.is_ok()
        })
    }
}

impl fmt::Debug for Visitors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visitors").finish_non_exhaustive()
    }
}

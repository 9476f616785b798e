//! The claim that services copy: `SET NX PX`, and how long it lasts.

use std::fmt;

use contest::{BRIEF, Step};
use futures::future::BoxFuture;
use rand::RngExt;
use redis::{ExistenceCheck, RedisResult, SetExpiry, SetOptions, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const PIPELINED_CLAIM: &str = "`SET NX PX` and `PTTL` by hand";

/// One process that claims names.
#[derive(Clone)]
pub struct Claim(ConnectionManager);

impl Claim {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str) -> Self {
        Self(crate::connect(runtime, url))
    }
}

impl Step for Claim {
    fn name(&self) -> &'static str {
        PIPELINED_CLAIM
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let mut redis = self.0.clone();
        Box::pin(async move {
            let key = format!("claim:bench:{{{}}}", contest::claimed_twice(number));
            let mut both = redis::pipe();
            both.set_options(&key, token(), once()).pttl(&key);
            let claimed: RedisResult<(Option<String>, i64)> = both.query_async(&mut redis).await;
            claimed.is_ok_and(|(_, left)| left > 0)
        })
    }
}

fn once() -> SetOptions {
    let life = SetExpiry::PX(BRIEF.as_millis() as u64);
    SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(life)
}

/// Whose claim it is.
fn token() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}

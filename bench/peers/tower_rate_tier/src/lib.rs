//! tower-rate-tier over Redis. A tier of it has one window, so that two windows are two checks, one after the other.

use std::sync::Arc;

use contest::{Check, Window, Windows};
use futures::future::BoxFuture;
use redis::{Client, aio::ConnectionManager};
use tokio::runtime::Runtime;
use tower_rate_tier::{Quota, RateTier, RedisStorage};

const TIERS: [&str; 2] = ["minute", "hour"];

/// One process with a tier for each window.
#[derive(Debug)]
pub struct TowerRateTier {
    limiter: Arc<RateTier>,
    tiers: &'static [&'static str],
}

impl TowerRateTier {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str, windows: Windows) -> Self {
        let client = Client::open(url).expect("the rig's URL is valid");
        let redis = runtime.block_on(ConnectionManager::new(client)).expect("the rig's server answers");
        let builder = RateTier::builder().storage(Arc::new(RedisStorage::new(redis)));
        let tiers = TIERS.into_iter().zip(windows.each());
        let builder = tiers.fold(builder, |builder, (tier, window)| builder.tier(tier, quota(window)));
        Self { limiter: Arc::new(builder.build()), tiers: &TIERS[..windows.each().len()] }
    }
}

fn quota(window: &Window) -> Quota {
    Quota::with_window(u32::try_from(window.limit).expect("limits are small"), window.span)
}

impl Check for TowerRateTier {
    fn name(&self) -> &'static str {
        "tower-rate-tier"
    }

    fn check(&self, subject: String) -> BoxFuture<'static, bool> {
        let (limiter, tiers) = (self.limiter.clone(), self.tiers);
        Box::pin(async move {
            for tier in tiers {
                if !matches!(limiter.check(&subject, tier, 1).await, Ok(Ok(_))) {
                    return false;
                }
            }
            true
        })
    }
}

//! trypema's limiter of every call over Redis. A limiter of it has one window, so that two windows are two of them.

use std::sync::Arc;

use contest::{Check, Window, Windows};
use futures::future::BoxFuture;
use redis::{Client, aio::ConnectionManager};
use tokio::runtime::Runtime;
use trypema::{
    RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize,
    redis::{RedisKey, RedisRateLimiterProvider},
};

/// One process with a limiter for each window.
#[derive(Debug)]
pub struct Trypema {
    limiters: Arc<[(Arc<RedisRateLimiterProvider>, RateLimit)]>,
}

impl Trypema {
    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str, windows: Windows) -> Self {
        let client = Client::open(url).expect("the rig's URL is valid");
        runtime.block_on(async {
            let redis = ConnectionManager::new(client).await.expect("the rig's server answers");
            let limiter = |window| limiter(redis.clone(), window);
            Self { limiters: windows.each().iter().map(limiter).collect() }
        })
    }
}

fn limiter(redis: ConnectionManager, window: &Window) -> (Arc<RedisRateLimiterProvider>, RateLimit) {
    let seconds = window.span.as_secs();
    let prefix = RedisKey::new(format!("trypema-{seconds}")).expect("the prefix is valid");
    let size = WindowSize::seconds(seconds).expect("the span is valid");
    let builder = RedisRateLimiterProvider::builder(redis).prefix(prefix).window_size(size);
    let rate = RateLimit::per_second(window.limit as f64 / seconds as f64).expect("the rate is valid");
    (builder.build().expect("the settings are valid"), rate)
}

impl Check for Trypema {
    fn name(&self) -> &'static str {
        "trypema"
    }

    fn check(&self, subject: String) -> BoxFuture<'static, bool> {
        let limiters = self.limiters.clone();
        Box::pin(async move {
            let Ok(subject) = RedisKey::new(subject) else { return false };
            for (limiter, rate) in limiters.iter() {
                let decision = limiter.absolute().inc(&subject, rate, 1).await;
                if !matches!(decision, Ok(RateLimitDecision::Allowed)) {
                    return false;
                }
            }
            true
        })
    }
}

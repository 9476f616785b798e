//! Stamps every case for Redis: a real server, on which time passes by making its keys older.

use std::time::Duration;

use forebay::{
    Forebay,
    clock::{Clock, Manual},
    status::{RedisStatus, Status},
};
use forebay_rig::Redis;

use crate::rig::Rig;

/// A `Forebay` over a server of its own, on a clock that the rig moves together with the keys.
pub(crate) struct RedisRig {
    forebay: Forebay,
    time: Manual,
    redis: Redis,
}

/// Time passes in steps, so that what is due in between happens in between.
const STEP: Duration = Duration::from_millis(25);

/// Of a long span no more than this share passes at a time.
const SHARE: u32 = 1000;

const TURNS: usize = 64;

impl RedisRig {
    pub(crate) async fn new() -> Self {
        let redis = Redis::start();
        let (clock, time) = Clock::manual();
        let forebay = Forebay::builder("rig")
            .redis(redis.url())
            .redis_budget(Duration::from_secs(5))
            .clock(clock)
            .build()
            .await
            .expect("nothing to refuse");
        let rig = Self { forebay, time, redis };
        while !(rig.status().usable && rig.status().hears) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        rig
    }

    fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            other => panic!("the rig runs on {other:?}"),
        }
    }

    /// Lets everything happen that waits for an answer.
    async fn quiesce(&self) {
        for _ in 0..2 {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            while self.status().in_flight > 0 {
                tokio::time::sleep(Duration::from_micros(100)).await;
            }
        }
    }
}

impl Rig for RedisRig {
    fn forebay(&self) -> &Forebay {
        &self.forebay
    }

    async fn pass(&self, span: Duration) {
        let mut left = span;
        self.settle().await;
        while !left.is_zero() {
            let step = left.min(STEP.max(left / SHARE));
            self.redis.age(step);
            self.time.advance(step);
            self.quiesce().await;
            left -= step;
        }
        self.settle().await;
    }

    /// Messages of the server are not counted as they come: they get a moment.
    async fn settle(&self) {
        self.quiesce().await;
        tokio::time::sleep(Duration::from_micros(200)).await;
        self.quiesce().await;
    }
}

impl Drop for RedisRig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.redis.keys_without_expiry(), Vec::<String>::new());
        }
    }
}

crate::cases::stamp!(crate::redis::RedisRig);

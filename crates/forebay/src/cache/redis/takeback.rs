//! Takes back a lease whose request was not answered: it may have been granted, or may be yet.

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use super::scripts::RELEASE;
use crate::redis::{Redis, Request, Road};

/// Beyond so many at a time, leases are left to end by themselves.
const MOST: usize = 1024;

/// The pause between attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// For so long after an answer the request may still arrive, by a connection that was given up.
const BELATED: Duration = Duration::from_secs(1);

/// A lease ends by itself, if only later.
const AT_MOST: Duration = Duration::from_secs(60);

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// What it takes to give one lease back.
pub(super) struct Takeback {
    pub(super) redis: Redis,
    pub(super) keys: [String; 2],
    pub(super) token: String,
    pub(super) wakes: String,
}

impl Takeback {
    /// Begins to take the lease back: until the store has answered, a minute at most, and once more a little later.
    pub(super) fn begin(self) {
        let running = Running::enter();
        if running.is_one_of(MOST) {
            let redis = self.redis.clone();
            redis.in_background(async move {
                self.run().await;
                drop(running);
            });
        }
    }

    async fn run(&self) {
        let until = self.redis.clock().now().after(AT_MOST);
        while !self.attempt().await {
            if self.redis.clock().now() >= until {
                return;
            }
            self.redis.clock().sleep(PAUSE).await;
        }
        self.redis.clock().sleep(BELATED).await;
        self.attempt().await;
    }

    /// Whether there was an answer.
    async fn attempt(&self) -> bool {
        let arguments: [&[u8]; 3] = [self.token.as_bytes(), b"keep", self.wakes.as_bytes()];
        let request = Request::Run { script: &RELEASE, keys: &self.keys, arguments: &arguments };
        self.redis.call(request, Road::Usual, self.redis.budget(Road::Usual)).await.is_ok()
    }
}

/// One of those that run.
struct Running(usize);

impl Running {
    fn enter() -> Self {
        Self(RUNNING.fetch_add(1, SeqCst))
    }

    fn is_one_of(&self, most: usize) -> bool {
        self.0 < most
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, SeqCst);
    }
}

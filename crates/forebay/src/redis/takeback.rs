//! Takes back what may have been granted: a request that was not answered may have been carried out, or may be yet.

use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use bytes::Bytes;

use super::{Redis, Request, Road, Script, Unusable};

/// Beyond so many at a time, what was granted is left to end by itself.
const MOST: usize = 10_000;

/// The pause between attempts, of which those at a server that is known to be away cost nothing.
const PAUSE: Duration = Duration::from_millis(250);

/// For so long after an answer the request may still arrive, by a connection that was given up.
const BELATED: Duration = Duration::from_secs(1);

/// What was granted ends by itself, if only later.
const AT_MOST: Duration = Duration::from_secs(3600);

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A script that takes one thing back, if it is still the caller's.
#[derive(Debug)]
pub(crate) struct Takeback {
    pub(crate) redis: Redis,
    pub(crate) script: &'static Script,
    pub(crate) keys: Vec<String>,
    pub(crate) arguments: Vec<Bytes>,
    /// That of the request: on any other it could come before it.
    pub(crate) road: Road,
}

impl Takeback {
    /// Begins to run the script: until the store has answered, an hour at most, and once more a little later.
    pub(crate) fn begin(self) {
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
        let arguments: Vec<&[u8]> = self.arguments.iter().map(|argument| &**argument).collect();
        let request = Request::Run { script: self.script, keys: &self.keys, arguments: &arguments };
        self.redis.call(request, self.road, self.redis.budget(self.road)).await.is_ok()
    }
}

/// Watches over one request, which nobody may get the answer of: its caller may go away meanwhile.
pub(crate) struct Watch<F: FnOnce() -> Takeback>(Option<F>);

impl<F: FnOnce() -> Takeback> Watch<F> {
    /// Takes back what the request may be granted by what `takeback` says, unless it is answered.
    pub(crate) fn unless_answered(takeback: F) -> Self {
        Self(Some(takeback))
    }

    /// Nothing is to be taken back: the caller knows how it stands, or nothing was done.
    pub(crate) fn answered(&mut self) {
        self.0 = None;
    }

    /// As [`Watch::answered`], unless that is not known.
    pub(crate) fn answers<T>(&mut self, answer: &Result<T, Unusable>) {
        if !matches!(answer, Err(Unusable::Unanswered)) {
            self.answered();
        }
    }
}

impl<F: FnOnce() -> Takeback> Drop for Watch<F> {
    fn drop(&mut self) {
        if let Some(takeback) = self.0.take() {
            takeback().begin();
        }
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

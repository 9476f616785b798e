//! Forebay's lock over Redis.

use std::{fmt, time::Duration};

use contest::{HELD, Holding, Lock};
use forebay::{
    Forebay,
    lock::{self, Guard, LockError},
};
use futures::future::BoxFuture;
use tokio::runtime::Runtime;

/// How long a lock is waited for: longer than any queue takes.
const WAIT: Duration = Duration::from_secs(60);

/// One process that locks.
pub struct Locker {
    forebay: Forebay,
    end: End,
}

/// How a lock is let go of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The holder waits until it is free.
    Release,
    /// The guard is dropped.
    Drop,
}

impl Locker {
    /// The name in the tables of one that releases its locks.
    pub const RELEASES: &str = "Forebay `acquire`, `release`";

    /// The name in the tables of one that drops its guards.
    pub const DROPS: &str = "Forebay `acquire`, guard dropped";

    /// A process over the Redis at `url`.
    ///
    /// # Panics
    ///
    /// Panics if it is no URL.
    pub fn new(runtime: &Runtime, url: &str, end: End) -> Self {
        Self { forebay: runtime.block_on(crate::connect(url)), end }
    }
}

impl Lock for Locker {
    fn name(&self) -> &'static str {
        match self.end {
            End::Release => Self::RELEASES,
            End::Drop => Self::DROPS,
        }
    }

    fn acquire(&self, name: String) -> BoxFuture<'static, Holding> {
        let lock = self.forebay.lock(&name).time_to_live(HELD).wait(WAIT);
        let end = self.end;
        Box::pin(async move {
            let guard = acquire(&lock).await;
            match end {
                End::Release => Holding::by(async move { guard.release().await.unwrap_or(true) }),
                End::Drop => Holding::by(async move { !guard.is_lost() }),
            }
        })
    }
}

/// Asks again where the machine stands still for longer than a request may take.
async fn acquire(lock: &lock::Lock) -> Guard {
    loop {
        match lock.acquire().await {
            Ok(guard) => return guard,
            Err(LockError::Unavailable(_)) => {}
            Err(error) => panic!("everyone has his turn: {error}"),
        }
    }
}

impl fmt::Debug for Locker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locker").field("end", &self.end).finish_non_exhaustive()
    }
}

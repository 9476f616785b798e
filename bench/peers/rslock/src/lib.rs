//! rslock over one Redis.

use contest::{HELD, Holding, Lock};
use futures::future::BoxFuture;
use rslock::LockManager;

/// One process, with rslock's own settings.
#[derive(Debug, Clone)]
pub struct RsLock(LockManager);

impl RsLock {
    /// A process over the Redis at `url`, which it reaches with its first lock.
    pub fn new(url: &str) -> Self {
        Self(LockManager::new(vec![url]))
    }
}

impl Lock for RsLock {
    fn name(&self) -> &'static str {
        "rslock"
    }

    fn acquire(&self, name: String) -> BoxFuture<'static, Holding> {
        let manager = self.0.clone();
        Box::pin(async move {
            let guard = manager.acquire(name.as_bytes(), HELD).await.expect("it waits for ever");
            Holding::by(async move {
                // It does not tell.
                guard.release().await;
                true
            })
        })
    }
}

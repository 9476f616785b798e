//! What the row on locks asks.

use std::{fmt, sync::Arc, time::Duration};

use futures::future::BoxFuture;

use crate::Step;

/// How long a lock lives that nobody releases: longer than any round holds it.
pub const HELD: Duration = Duration::from_secs(30);

/// A lock in the hands of its holder.
pub struct Holding(BoxFuture<'static, bool>);

impl Holding {
    /// A lock that `release` lets go of, and tells whether it was still held.
    pub fn by(release: impl Future<Output = bool> + Send + 'static) -> Self {
        Self(Box::pin(release))
    }

    /// Lets go of it. Whether it was still held.
    pub async fn release(self) -> bool {
        self.0.await
    }
}

impl fmt::Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holding").finish_non_exhaustive()
    }
}

/// Locks names.
pub trait Lock: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// Waits until it holds `name`.
    fn acquire(&self, name: String) -> BoxFuture<'static, Holding>;
}

/// Acquires and releases a lock that nobody else wants.
#[derive(Clone)]
pub struct Uncontended(pub Arc<dyn Lock>);

impl Step for Uncontended {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let acquire = self.0.acquire(format!("plan-{}", number % 1_000));
        Box::pin(async move { acquire.await.release().await })
    }
}

impl fmt::Debug for Uncontended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Uncontended").field(&self.0.name()).finish()
    }
}

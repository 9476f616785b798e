//! What the rows on caches over Redis ask.

use futures::future::BoxFuture;

use crate::Origin;

/// One of several processes over one Redis.
pub trait Shared: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// One caller's read of `key`, which asks `origin` for its article if need be. The version of the value, if there was
    /// one.
    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Option<u64>>;

    /// Tells the cache that `key` has changed. Whether that was done.
    fn forget(&self, key: String) -> BoxFuture<'static, bool>;
}

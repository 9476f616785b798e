//! quick_cache with its defaults: the map under Forebay's process memory, without deadlines.

mod deadlines;

use std::{any::Any, convert::Infallible, fmt, hint::black_box, sync::Arc};

use contest::{Coalesce, Hit, Hold, Origin, Payload, payload};
use futures::future::BoxFuture;
use quick_cache::sync::Cache;

pub use self::deadlines::Deadlines;

/// The name in the tables of one that is only read.
pub const GET: &str = "quick_cache `get`";

/// A cache with its default hasher.
#[derive(Clone)]
pub struct QuickCache {
    cache: Arc<Cache<String, Arc<Payload>>>,
}

impl QuickCache {
    /// An empty cache with room for `capacity` entries, however they spread over its shards.
    pub fn new(capacity: usize) -> Self {
        Self { cache: Arc::new(Cache::new(2 * capacity)) }
    }

    /// A cache with an entry for each of `keys`.
    pub fn filled(keys: &[String]) -> Self {
        let filled = Self::new(keys.len());
        for (number, key) in keys.iter().enumerate() {
            filled.cache.insert(key.clone(), Arc::new(payload(number)));
        }
        filled
    }
}

impl fmt::Debug for QuickCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuickCache").field("len", &self.cache.len()).finish()
    }
}

impl Hit for QuickCache {
    fn name(&self) -> &'static str {
        GET
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        for &number in order {
            black_box(self.cache.get(&keys[number as usize]).expect("it is there"));
        }
    }
}

/// quick_cache as a holder of entries.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "quick_cache"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        Box::new(QuickCache::filled(keys))
    }
}

impl Coalesce for QuickCache {
    fn name(&self) -> &'static str {
        "quick_cache `get_or_insert_async`"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Arc<Payload>> {
        let cache = self.cache.clone();
        Box::pin(async move {
            let load = async { Ok::<_, Infallible>(Arc::new(origin.load().await)) };
            let Ok(value) = cache.get_or_insert_async(&key, load).await;
            value
        })
    }
}

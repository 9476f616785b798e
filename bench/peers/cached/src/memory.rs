//! The map of cached that many threads share, with a bound and one time to live for all entries.

use std::{any::Any, fmt, hint::black_box, sync::Arc};

use cached::{ConcurrentCached, ShardedLruTtlCache};
use contest::{Hit, Hold, LIFE, Payload, payload};

/// The map, which is only read.
pub struct Near(ShardedLruTtlCache<String, Arc<Payload>>);

impl Near {
    /// A map with an entry for each of `keys`, and room for as many more.
    pub fn filled(keys: &[String]) -> Self {
        let cache = ShardedLruTtlCache::new(2 * keys.len(), LIFE);
        for (number, key) in keys.iter().enumerate() {
            let Ok(_) = cache.cache_set(key.clone(), Arc::new(payload(number)));
        }
        Self(cache)
    }
}

impl Hit for Near {
    fn name(&self) -> &'static str {
        "cached `ShardedLruTtlCache::get`"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        for &number in order {
            black_box(self.0.get(&keys[number as usize]).expect("it is there"));
        }
    }
}

impl fmt::Debug for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Near").field("len", &self.0.len()).finish()
    }
}

/// cached as a holder of entries.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "cached `ShardedLruTtlCache`"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        Box::new(Near::filled(keys))
    }
}

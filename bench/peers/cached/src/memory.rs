//! The map of cached that many threads share, with a bound and one time to live for all entries.

use std::{any::Any, sync::Arc};

use cached::{ConcurrentCached, ShardedLruTtlCache};
use contest::{Hold, LIFE, Payload, payload};

/// cached as a holder of entries.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "cached `ShardedLruTtlCache`"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        let cache = ShardedLruTtlCache::<String, Arc<Payload>>::new(2 * keys.len(), LIFE);
        for (number, key) in keys.iter().enumerate() {
            let Ok(_) = cache.cache_set(key.clone(), Arc::new(payload(number)));
        }
        Box::new(cache)
    }
}

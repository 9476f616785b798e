//! moka with one time to live for all entries: the futures' cache, and the synchronous one for information.

use std::{any::Any, fmt, hint::black_box, sync::Arc};

use contest::{Coalesce, Hit, Hold, LIFE, Origin, Payload, at_once, payload};
use futures::future::BoxFuture;
use moka::future::Cache;

/// A cache of the kind that is read within futures.
#[derive(Clone)]
pub struct Moka {
    cache: Cache<String, Arc<Payload>>,
}

impl Moka {
    /// An empty cache with room for `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self { cache: Cache::builder().max_capacity(2 * capacity as u64).time_to_live(LIFE).build() }
    }

    /// A cache with an entry for each of `keys`, and nothing of the work left undone.
    pub fn filled(keys: &[String]) -> Self {
        let filled = Self::new(keys.len());
        at_once(async {
            for (number, key) in keys.iter().enumerate() {
                filled.cache.insert(key.clone(), Arc::new(payload(number))).await;
            }
            filled.cache.run_pending_tasks().await;
        });
        filled
    }
}

impl fmt::Debug for Moka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moka").field("len", &self.cache.entry_count()).finish()
    }
}

impl Hit for Moka {
    fn name(&self) -> &'static str {
        "moka `get_with`"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let key = &keys[number as usize];
                black_box(self.cache.get_with(key.clone(), async { missed(key) }).await);
            }
        });
    }
}

/// The same cache, asked without giving the key away.
#[derive(Debug, Clone)]
pub struct ByRef(pub Moka);

impl Hit for ByRef {
    fn name(&self) -> &'static str {
        "moka `get_with_by_ref`"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        at_once(async {
            for &number in order {
                let key = &keys[number as usize];
                black_box(self.0.cache.get_with_by_ref(key, async { missed(key) }).await);
            }
        });
    }
}

/// The synchronous cache, which is only read.
#[derive(Clone)]
pub struct Sync {
    cache: moka::sync::Cache<String, Arc<Payload>>,
}

impl Sync {
    /// A cache with an entry for each of `keys`, and nothing of the work left undone.
    pub fn filled(keys: &[String]) -> Self {
        let builder = moka::sync::Cache::builder().max_capacity(2 * keys.len() as u64);
        let cache = builder.time_to_live(LIFE).build();
        for (number, key) in keys.iter().enumerate() {
            cache.insert(key.clone(), Arc::new(payload(number)));
        }
        cache.run_pending_tasks();
        Self { cache }
    }
}

impl fmt::Debug for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sync").field("len", &self.cache.entry_count()).finish()
    }
}

impl Hit for Sync {
    fn name(&self) -> &'static str {
        "moka `sync::Cache::get`"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        for &number in order {
            black_box(self.cache.get(&keys[number as usize]).expect("it is there"));
        }
    }
}

#[cold]
fn missed(key: &str) -> Arc<Payload> {
    panic!("{key} is not in memory")
}

/// moka as a holder of entries.
#[derive(Debug)]
pub struct Holder;

impl Hold for Holder {
    fn name(&self) -> &'static str {
        "moka"
    }

    fn hold(&self, keys: &[String]) -> Box<dyn Any> {
        Box::new(Moka::filled(keys))
    }
}

impl Coalesce for Moka {
    fn name(&self) -> &'static str {
        "moka `get_with`"
    }

    fn read(&self, key: String, origin: Origin) -> BoxFuture<'static, Arc<Payload>> {
        let cache = self.cache.clone();
        Box::pin(async move { cache.get_with(key, async { Arc::new(origin.load().await) }).await })
    }
}

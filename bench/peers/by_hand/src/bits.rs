//! The Bloom filter that services copy: a `GETBIT` for each hash, all in one pipeline.

use std::{
    fmt,
    hash::{DefaultHasher, Hasher},
};

use contest::Step;
use futures::future::BoxFuture;
use redis::{RedisResult, aio::ConnectionManager};
use tokio::runtime::Runtime;

/// The name in the tables.
pub const GETBITS: &str = "pipelined `GETBIT` by hand";

const KEY: &str = "filter:products";

/// For a million ids, one of a hundred others answered wrong.
const BITS: u64 = 9_585_059;
const HASHES: u64 = 7;

/// One process that asks a filter for so many ids at a time.
#[derive(Clone)]
pub struct Bits {
    redis: ConnectionManager,
    ids: usize,
}

impl Bits {
    /// A process over the Redis at `url`, whose filter knows what it has to know.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be reached.
    pub fn new(runtime: &Runtime, url: &str, ids: usize) -> Self {
        let mut bits = Self { redis: crate::connect(runtime, url), ids };
        let mut all = redis::pipe();
        for offset in contest::known_products().iter().flat_map(|id| offsets(id)) {
            all.setbit(KEY, offset as usize, true).ignore();
        }
        let added: RedisResult<()> = runtime.block_on(all.query_async(&mut bits.redis));
        added.expect("the rig's server answers");
        bits
    }
}

impl Step for Bits {
    fn name(&self) -> &'static str {
        GETBITS
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let Self { mut redis, ids } = self.clone();
        Box::pin(async move {
            let products = contest::products(number, ids);
            let mut all = redis::pipe();
            for offset in products.iter().flat_map(|(id, _)| offsets(id)) {
                all.getbit(KEY, offset as usize);
            }
            let bits: RedisResult<Vec<bool>> = all.query_async(&mut redis).await;
            let bits = bits.unwrap_or_default();
            let mut answers = bits.chunks(HASHES as usize).map(|bits| bits.iter().all(|&bit| bit));
            products.iter().all(|&(_, is_known)| answers.next() == Some(is_known))
        })
    }
}

/// The bits of an id.
fn offsets(id: &str) -> impl Iterator<Item = u64> + use<> {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    let hash = hasher.finish();
    let (first, step) = (hash & 0xffff_ffff, hash >> 32 | 1);
    (0..HASHES).map(move |number| (first + number * step) % BITS)
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bits").field("ids", &self.ids).finish_non_exhaustive()
    }
}

//! Reads of keys, each as likely as any other.

use std::sync::Arc;

use contest::Step;
use futures::future::BoxFuture;
use ours::Grown;

use super::copies::named;
use crate::stopwatch;

/// Reads of so many keys in Redis, shared out to the tasks: of two reads of one key at once, one would wait for the other.
#[derive(Debug)]
pub(super) struct Reads {
    pub(super) cache: Arc<Grown>,
    pub(super) keys: u64,
    /// So many, each of which takes every so many-th step.
    pub(super) tasks: usize,
}

impl Step for Reads {
    fn name(&self) -> &'static str {
        "hit in Redis"
    }

    fn step(&self, number: usize) -> BoxFuture<'static, bool> {
        let (number, tasks) = (number as u64, self.tasks as u64);
        self.cache.read(named(scattered(number) % (self.keys / tasks) * tasks + number % tasks))
    }
}

/// The microseconds of one of so many hits in process memory, over all `ids`, by one thread.
pub(super) fn in_memory(cache: &Grown, ids: &[String], reads: usize) -> f64 {
    let order: Vec<u32> = (0..reads).map(|read| (scattered(read as u64) % ids.len() as u64) as u32).collect();
    stopwatch::time(|| cache.read_all(ids, &order)).as_secs_f64() * 1e6 / reads as f64
}

/// A number that looks like chance, another one for each: the last step of SplitMix64.
pub(super) fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

//! More keys.

use std::{fs, sync::Arc};

use anyhow::{Context, Result};
use forebay_rig::Redis;
use ours::{Compression, Grown};
use tally::{
    rounds::{Side, play},
    spelled,
};
use tokio::runtime::Runtime;

use super::{
    Curve, Extent, Line, Scale, TASKS,
    copies::{Copies, named},
    decades, each, reads,
    reads::Reads,
};
use crate::steps::Track;

const VALUE: [u8; 64] = [b'v'; 64];

/// What Redis takes for a key, generously.
const BYTES: u64 = 400;

/// What process memory takes for a key, generously, in the store and beside it.
const BYTES_IN_MEMORY: u64 = 2_000;

const ABOUT: &str = "\
Values of 64 bytes, each key read as often as any other, which is the worst there is for the caches of a processor. In
Redis, 64 tasks read one value each at a time, and nothing is kept in the process; in process memory one thread does. What
a key takes in Redis is the growth of `used_memory` since there was one.";

const BENDS: &str = "\
In Redis a read is mostly its way there and back, which knows nothing of the number of keys. What grows is the time of the
look-up itself: once table, keys and values no longer fit into the processor's caches, each look-up waits for main memory
a few times, and for the translation of addresses. In process memory there is no way to hide that: a hit is as fast as the
cache that its entry lies in, and the name by which it is asked for, so that the curve climbs from one level of the caches
to the next. What a key takes swings with the tables of Redis, one for keys and one for their expiries, which double
their buckets when they are full.";

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let runtime = super::runtime()?;
    let mut missing = Vec::new();
    let [redis, bytes] = in_redis(&runtime, extent, &mut missing)?;
    Ok(Curve {
        name: "keys",
        title: "More keys",
        about: ABOUT,
        more: "keys",
        scale: Scale::Count,
        unit: "µs per hit",
        lines: vec![redis, in_memory(&runtime, extent)],
        beside: vec![bytes],
        bends: BENDS,
        missing,
    })
}

fn in_redis(runtime: &Runtime, extent: &Extent, missing: &mut Vec<String>) -> Result<[Line; 2]> {
    let redis = Redis::start();
    let cache = Arc::new(Grown::over_redis(runtime, &redis.url(), "growth", Compression::Usual));
    cache.put(runtime, &named(0), &VALUE);
    let mut copies = Copies::of(&redis)?;
    let (mut line, mut bytes) = (Line::new("in Redis"), Line::new("bytes of Redis for a key"));
    let track = Track { runtime, span: extent.span };
    for keys in decades(extent.keys) {
        let free = free_memory()?;
        if free < keys * BYTES {
            let there = spelled::bytes(free);
            missing
                .push(format!("{} keys in Redis, as only {there} of memory are free", spelled::count(keys)));
            break;
        }
        copies.grow_to(keys)?;
        cache.wait_for_redis(runtime);
        let reads = track.rate(TASKS, Arc::new(Reads { cache: cache.clone(), keys, tasks: TASKS }));
        let played = play(vec![reads], super::ROUNDS).remove(0);
        line.push(keys, played.samples.into_iter().map(each).collect());
        bytes.push(keys, vec![copies.bytes_each()?]);
    }
    Ok([line, bytes])
}

fn in_memory(runtime: &Runtime, extent: &Extent) -> Line {
    let mut line = Line::new("in process memory");
    for keys in decades(extent.keys_in_memory) {
        let cache = Grown::in_memory(runtime, keys * BYTES_IN_MEMORY);
        let ids: Vec<String> = (0..keys).map(named).collect();
        cache.load_all(runtime, &ids, |_| VALUE.to_vec());
        let side = Side::new(line.name, || reads::in_memory(&cache, &ids, extent.reads));
        line.push(keys, play(vec![side], super::ROUNDS).remove(0).samples);
    }
    line
}

/// How many bytes of memory this machine has left.
fn free_memory() -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).context("it says what is free")?;
    Ok(kilobytes.parse::<u64>()? << 10)
}

//! A hit in process memory.

use std::{sync::Barrier, thread};

use anyhow::Result;
use contest::Hit;
use ours::Ours;
use peer_moka::{ByRef, Moka};
use peer_quick_cache::QuickCache;
use tally::{
    rounds::{Side, play},
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;
use crate::{stopwatch, zipf};

pub(crate) const ROW: &str = "hit";

pub(super) const KEYS: u32 = 100_000;
const ABOUT: &str = "\
100,000 string keys, values of 256 bytes, zipf 0.99, everything fits. Nanoseconds of a thread for one hit, its mean over
all threads. Forebay and moka have a time to live; quick_cache has no notion of one. What is asynchronous is polled
within one future for all reads, without an executor. `get_with` takes its key by value, so that its caller clones it.
cached is its `ShardedLruTtlCache`, which has a bound and a time to live; dashmap has neither, and is the floor.";

const WHY: [Because; 2] = [
    Because {
        peers: &[peer_quick_cache::GET],
        reason: "It is the map under Forebay's process memory, and its `get` is the look-up alone. A hit of Forebay \
                 also polls a future, looks whether the id needs encoding, compares the end of its life and the epoch \
                 of its space, by which lives, refreshes and lost messages are minded, and counts itself.",
        plan: "None beyond the bound of 1.70: without these a hit would keep none of its promises.",
    },
    Because {
        peers: &[peer_dashmap::GET],
        reason: "A map without a bound, lives, an order of eviction or anything to load: nothing is noted when it is \
                 read. It shows what any shared map costs.",
        plan: "None: no cache can promise this.",
    },
];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let keys = contest::keys(KEYS as usize);
    let ours = Ours::filled(&keys);
    let quick = QuickCache::filled(&keys);
    let moka = Moka::filled(&keys);
    let by_ref = ByRef(moka.clone());
    let sync = peer_moka::Sync::filled(&keys);
    let (cached, map) = (peer_cached::Near::filled(&keys), peer_dashmap::Map::filled(&keys));
    let contestants: [&dyn Hit; 7] = [&ours, &quick, &moka, &by_ref, &sync, &cached, &map];
    Ok([1, 2].into_iter().map(|threads| table(&contestants, &keys, threads, effort)).collect())
}

fn table(contestants: &[&dyn Hit], keys: &[String], threads: u64, effort: &Effort) -> Table {
    let orders: Vec<Vec<u32>> = (1..=threads).map(|seed| zipf::order(KEYS, effort.reads, seed)).collect();
    let sides = contestants.iter().map(|&side| Side::new(side.name(), || nanoseconds(side, keys, &orders)));
    let [ours, quick, moka, by_ref] = [0, 1, 2, 3].map(|index| contestants[index].name());
    let mut table = Table::new(ROW, quick, play(sides.collect(), effort.rounds));
    table.title = format!("Hit in process memory, {threads} thread{}", if threads > 1 { "s" } else { "" });
    table.about = ABOUT.into();
    table.unit = "ns per hit";
    let over_map = table.ratio(ours, quick);
    table.bound("Forebay takes at most 1.70 times a plain `get` of quick_cache", over_map, over_map <= 1.7);
    for peer in [moka, by_ref] {
        let faster = table.ratio(peer, ours);
        table.bound(format!("{peer} takes at least twice Forebay's time"), faster, faster >= 2.0);
    }
    table.judge(ours, &table.peers(&[ours], &[]), Better::Less, &WHY);
    table
}

/// The time of one hit, when a thread for each of `orders` reads at once.
pub(super) fn nanoseconds(side: &dyn Hit, keys: &[String], orders: &[Vec<u32>]) -> f64 {
    let start = Barrier::new(orders.len());
    let read = |order: &Vec<u32>| {
        start.wait();
        stopwatch::time(|| side.read_all(keys, order)).as_nanos() as f64 / order.len() as f64
    };
    thread::scope(|scope| {
        let threads: Vec<_> = orders.iter().map(|order| scope.spawn(|| read(order))).collect();
        let times =
            threads.into_iter().map(|thread| thread.join().expect("a contestant reads without panic"));
        times.sum::<f64>() / orders.len() as f64
    })
}

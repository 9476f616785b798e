//! A hit in process memory.

use anyhow::{Result, anyhow};
use contest::Hit;
use drive::Reads;
use ours::Ours;
use peer_moka::{ByRef, Moka};
use peer_quick_cache::QuickCache;
use programs::{HITBOX_IN_MEMORY, Program};
use tally::{
    rounds::{Side, play_what_runs},
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;

pub(crate) const ROW: &str = "hit";

pub(super) const KEYS: u32 = 100_000;
/// What is told to a program in place of the address of Redis.
const IN_MEMORY: &str = "memory";

/// It reads this part of what the others do, as it takes many times as long.
const FEWER: usize = 10;

const ABOUT: &str = "\
100,000 string keys, values of 256 bytes, zipf 0.99, everything fits. Nanoseconds of a thread for one hit, its mean over
all threads. Forebay and moka have a time to live; quick_cache has no notion of one. What is asynchronous is polled
within one future for all reads, without an executor. `get_with` takes its key by value, so that its caller clones it.
cached is its `ShardedLruTtlCache`, which has a bound and a time to live; dashmap has neither, and is the floor. hitbox
is a program of its own, which keeps its entries encoded, here by bincode, and takes its key by value.";

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
    let mut hitbox = HITBOX_IN_MEMORY.start(IN_MEMORY, &[]);
    let table = |threads| table(&contestants, &mut hitbox, &keys, threads, effort);
    [1, 2].into_iter().map(table).collect()
}

fn table(
    contestants: &[&dyn Hit],
    hitbox: &mut Result<Program>,
    keys: &[String],
    threads: u64,
    effort: &Effort,
) -> Result<Table> {
    let orders = drive::orders(keys.len(), Reads { threads, reads: effort.reads });
    let [ours, quick, moka, by_ref] = [0, 1, 2, 3].map(|index| contestants[index].name());
    let crates = contestants
        .iter()
        .map(|&side| Side::new(side.name(), || Ok(drive::nanoseconds(side, keys, &orders))));
    let mut sides: Vec<_> = crates.collect();
    sides.push(Side::new(HITBOX_IN_MEMORY.name, || asked(hitbox, threads, effort)));
    let played = play_what_runs(sides, effort.rounds);
    let mut table = Table::of(ROW, quick, played, ABOUT, &[ours, moka, by_ref])?;
    table.title = format!("Hit in process memory, {threads} thread{}", if threads > 1 { "s" } else { "" });
    table.unit = "ns per hit";
    let over_map = table.ratio(ours, quick);
    table.bound("Forebay takes at most 1.70 times a plain `get` of quick_cache", over_map, over_map <= 1.7);
    for peer in [moka, by_ref] {
        let faster = table.ratio(peer, ours);
        table.bound(format!("{peer} takes at least twice Forebay's time"), faster, faster >= 2.0);
    }
    table.judge(ours, &table.peers(&[ours], &[]), Better::Less, &WHY);
    Ok(table)
}

/// What a program measures of itself.
fn asked(program: &mut Result<Program>, threads: u64, effort: &Effort) -> Result<f64> {
    let program = program.as_mut().map_err(|error| anyhow!("{error:#}"))?;
    program.ask(&serde_json::to_string(&Reads { threads, reads: effort.reads / FEWER })?)
}

//! More callers.

use std::sync::Arc;

use anyhow::Result;
use forebay_rig::Redis;
use ours::{Compression, Grown};
use peer_by_hand::Ping;
use tally::rounds::play;

use super::{
    Curve, Extent, Line, Scale,
    copies::{Copies, named},
    each,
    reads::Reads,
};
use crate::steps::Track;

const CALLERS: [u64; 9] = [1, 4, 16, 64, 256, 1_000, 2_500, 5_000, 10_000];

/// So many that ten thousand callers have some of their own each.
const KEYS: u64 = 100_000;

const ABOUT: &str = "\
Callers in one process read values of 64 bytes out of Redis, one each at a time, as fast as they can. What a hit costs is
the time of all divided by the hits of all; how long a caller waits for it is that times the callers. By hand, the same
callers send a `PING` each by one plain connection of redis-rs, with its own settings.";

const BENDS: &str = "\
Alone, a caller pays for a whole way to the server and back: system calls and a wake-up on either side. The more callers
there are, the more of them share that, as commands that come together go out in one write, of up to 32 callers, and Redis
reads and answers them as one: what a hit costs falls until a core is busy all the time, that of Redis or those of this
process. From there on all that a further caller adds is his place in the line: how long each waits grows as their number
does. With thousands a hit costs more again, as what each of them keeps has left the processor's caches when it is his
turn: his task, his timer, his place among those who wait, his buffers. The `PING` by hand bends there for the same reason,
by as much less as its callers keep.";

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let runtime = super::runtime()?;
    let redis = Redis::start();
    let cache = Arc::new(Grown::over_redis(&runtime, &redis.url(), "growth", Compression::Usual));
    cache.put(&runtime, &named(0), &[b'v'; 64]);
    Copies::of(&redis)?.grow_to(KEYS)?;
    cache.wait_for_redis(&runtime);
    let track = Track { runtime: &runtime, span: extent.span };
    let ats = callers(extent);
    let ping = Arc::new(Ping::new(&runtime, &redis.url()));
    let sides = ats.iter().map(|&callers| {
        let (cache, tasks) = (cache.clone(), callers as usize);
        track.rate(tasks, Arc::new(Reads { cache, keys: KEYS, tasks }))
    });
    let pings = ats.iter().map(|&callers| track.rate(callers as usize, ping.clone()));
    let played = play(sides.chain(pings).collect(), super::ROUNDS);
    let (hits, pings) = played.split_at(ats.len());
    let rates = Line::of("hits a second", &ats, hits.to_vec());
    let pings = Line::of("pings a second", &ats, pings.to_vec());
    Ok(Curve {
        name: "callers",
        title: "More callers",
        about: ABOUT,
        more: "callers",
        scale: Scale::Count,
        unit: "µs",
        lines: vec![
            rates.map("what a hit costs", |_, per_second| each(per_second)),
            rates.map("how long a caller waits", |callers, rate| callers as f64 * each(rate)),
            pings.map("what a `PING` costs, by hand", |_, per_second| each(per_second)),
        ],
        beside: vec![rates],
        bends: BENDS,
        missing: Vec::new(),
    })
}

pub(super) fn callers(extent: &Extent) -> Vec<u64> {
    CALLERS.into_iter().filter(|&callers| callers <= extent.callers).collect()
}

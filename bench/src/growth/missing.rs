//! More callers on one key that nobody has.

use std::{cell::Cell, time::Duration};

use anyhow::Result;
use contest::Origin;
use forebay_rig::Redis;
use ours::{Compression, Grown};
use tally::rounds::{Side, figures, play};
use tokio::runtime::Runtime;

use super::{Curve, Extent, Line, Scale, callers::callers};

/// How long a load takes: longer than it takes until all callers wait for it.
const ORIGIN: Duration = Duration::from_millis(200);

const ABOUT: &str = "\
Callers in one process ask for one missing key over Redis; the load takes 200 ms. The figure is the time from the end of
the load until 99 of 100 of them have its value.";

const BENDS: &str = "\
Somebody loads, and everybody else waits for that one load in the same process, without a question to Redis: there is one
load, however many wait. With few callers the figure is mostly the timer that ends the load, which rings on whole
milliseconds; nobody waits until the value is stored. With thousands it is waking them: each is a task that has to be put
into a queue and run once, so that it grows as their number does.";

/// How one load for many went.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rush {
    pub(super) loads: u64,
    /// From the end of the load until 99 of 100 had its value.
    pub(super) handover: Duration,
}

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let runtime = super::runtime()?;
    let redis = Redis::start();
    let cache = Grown::over_redis(&runtime, &redis.url(), "growth", Compression::Usual);
    let ats = callers(extent);
    let (runtime, cache, next) = (&runtime, &cache, &Cell::new(0));
    let sides = ats.iter().map(|&callers| {
        Side::new("callers", move || {
            next.set(next.get() + 1);
            rush(runtime, cache, &format!("missing-{}", next.get()), callers as usize)
        })
    });
    let played = play(sides.collect(), super::ROUNDS);
    let handovers = figures(&played, |rush| rush.handover.as_secs_f64() * 1e3);
    Ok(Curve {
        name: "missing",
        title: "More callers on one missing key",
        about: ABOUT,
        more: "callers",
        scale: Scale::Count,
        unit: "ms after the load",
        lines: vec![Line::of("until 99 of 100 have the value", &ats, handovers)],
        beside: vec![Line::of("loads", &ats, figures(&played, |rush| rush.loads as f64))],
        bends: BENDS,
        missing: Vec::new(),
    })
}

/// So many callers of one process ask for a key at once.
///
/// # Panics
///
/// Panics if one of them has no answer.
pub(super) fn rush(runtime: &Runtime, cache: &Grown, key: &str, callers: usize) -> Rush {
    let origin = Origin::slow(ORIGIN);
    let call = |_| cache.load(key.to_owned(), origin.clone());
    let calls = runtime.block_on(drive::call_all(callers, call));
    assert!(calls.iter().all(|(_, answered)| *answered), "every caller has an answer");
    let mut waits: Vec<Duration> = calls.into_iter().map(|(wait, _)| wait).collect();
    waits.sort_unstable();
    Rush { loads: origin.loads(), handover: waits[callers * 99 / 100].saturating_sub(ORIGIN) }
}

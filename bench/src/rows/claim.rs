//! Claims over one Redis.

use std::sync::Arc;

use anyhow::Result;
use forebay_rig::Redis;
use ours::Claimer;
use peer_by_hand::{Claim, PIPELINED_CLAIM};

use super::Effort;
use crate::{rounds::play, steps::Track, table::Table};

pub(crate) const ROW: &str = "claim";

const TASKS: usize = 64;

const ABOUT: &str = "\
64 tasks claim names for 5 s, one claim each at a time; each name is claimed twice, so that every other claim is refused.
By hand it is `SET NX PX` with a random token and `PTTL` in one pipeline, by redis-rs with its own settings.";

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let track = Track { runtime: &runtime, span: effort.span };
    let sides = vec![
        track.rate(TASKS, Arc::new(Claimer::new(&runtime, &redis.url()))),
        track.rate(TASKS, Arc::new(Claim::new(&runtime, &redis.url()))),
    ];
    let mut table = Table::new(ROW, PIPELINED_CLAIM, play(sides, effort.rounds));
    table.title = "Claims, 64 tasks: claims a second".into();
    table.about = ABOUT.into();
    table.unit = "claims a second";
    let ratio = table.ratio(Claimer::NAME, PIPELINED_CLAIM);
    table.bound("Forebay makes at least 0.9 times the claims by hand", ratio, ratio >= 0.9);
    Ok(vec![table])
}

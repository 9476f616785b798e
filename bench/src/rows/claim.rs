//! Claims over one Redis.

use std::sync::Arc;

use anyhow::Result;
use forebay_rig::Redis;
use ours::Claimer;
use peer_by_hand::{Claim, PIPELINED_CLAIM};
use tally::{
    rounds::play,
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;
use crate::steps::Track;

pub(crate) const ROW: &str = "claim";

const TASKS: usize = 64;

const ABOUT: &str = "\
64 tasks claim names for 5 s, one claim each at a time; each name is claimed twice, so that every other claim is refused.
By hand it is `SET NX PX` with a random token and `PTTL` in one pipeline, by redis-rs with its own settings.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "The same two commands in one pipeline. Forebay besides ends the call after its budget, which takes a timer, and \
             gives back what was granted to a caller who has not heard of it.",
    plan: "None beyond the bound of 0.90.",
}];

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
    table.judge(Claimer::NAME, &[PIPELINED_CLAIM], Better::More, &WHY);
    Ok(vec![table])
}

//! What is done once, over one Redis.

use std::sync::Arc;

use anyhow::Result;
use contest::Step;
use forebay_rig::Redis;
use ours::Payments;
use peer_by_hand::{Once, Ping, SET_AND_GET};
use tally::{
    rounds::play,
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;
use crate::steps::Track;

pub(crate) const ROW: &str = "idempotency";

const TASKS: usize = 64;

const ABOUT: &str = "\
Something is begun, and completed with a record of 256 bytes, under one key after the other, each of them new and kept
for 5 s. By hand it is `SET NX PX` and `GET` in one pipeline, then `SET PX`, by redis-rs with its own settings: without
fingerprint, owner or heartbeat, so that whoever is late overwrites what another has done.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "By hand, two commands say who begins, and one writes the answer over whatever is there. Forebay's two are \
             scripts that read the record first: another request under the same key is refused by its fingerprint, who \
             comes late overwrites nothing, and the end of a lease is an instant by the server's clock. A heartbeat, which \
             is a task, renews that lease while the work goes on.",
    plan: "None: what must be done once takes longer than both scripts. Who needs no more than a gate takes a claim, \
           which is one pipeline.",
}];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let url = redis.url();
    let track = Track { runtime: &runtime, span: effort.span };
    let both: [Arc<dyn Step>; 2] =
        [Arc::new(Payments::new(&runtime, &url)), Arc::new(Once::new(&runtime, &url))];

    let ping = track.time(Arc::new(Ping::new(&runtime, &url)));
    let one = both.iter().map(|side| track.time(side.clone())).chain([ping]).collect();
    let mut time = Table::new(ROW, SET_AND_GET, play(one, effort.rounds));
    time.title = "Idempotency, 1 task: begun and completed".into();
    time.about = ABOUT.into();
    (time.unit, time.decimals) = ("µs", 1);

    let many = both.iter().map(|side| track.rate(TASKS, side.clone())).collect();
    let mut rate = Table::new(ROW, SET_AND_GET, play(many, effort.rounds));
    rate.title = "Idempotency, 64 tasks: begun and completed a second".into();
    rate.about = ABOUT.into();
    rate.unit = "a second";
    time.judge(Payments::NAME, &[SET_AND_GET], Better::Less, &WHY);
    rate.judge(Payments::NAME, &[SET_AND_GET], Better::More, &WHY);
    Ok(vec![time, rate])
}

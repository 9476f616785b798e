//! What is done once, over one Redis.

use std::sync::Arc;

use anyhow::Result;
use contest::Step;
use forebay_rig::Redis;
use ours::Payments;
use peer_by_hand::{Once, Ping, SET_AND_GET};

use super::Effort;
use crate::{rounds::play, steps::Track, table::Table};

pub(crate) const ROW: &str = "idempotency";

const TASKS: usize = 64;

const ABOUT: &str = "\
Something is begun, and completed with a record of 256 bytes, under one key after the other, each of them new and kept
for 5 s. By hand it is `SET NX PX` and `GET` in one pipeline, then `SET PX`, by redis-rs with its own settings: without
fingerprint, owner or heartbeat, so that whoever is late overwrites what another has done.";

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
    Ok(vec![time, rate])
}

//! A Bloom filter over one Redis.

use std::sync::Arc;

use anyhow::Result;
use contest::Step;
use forebay_rig::Redis;
use ours::Known;
use peer_by_hand::{Bits, GETBITS};
use tally::{
    rounds::play,
    table::Table,
    verdict::{Because, Better},
};
use tokio::runtime::Runtime;

use super::Effort;
use crate::steps::Track;

pub(crate) const ROW: &str = "filter";

const TASKS: usize = 64;

const ABOUT: &str = "\
A filter for 1,000,000 ids that takes 1 of 100 others for one of them: 7 bits an id. It has 10,000 ids; every other id
that is asked for is one of them. By hand, all `GETBIT` of a question go in one pipeline, by redis-rs with its own
settings; nothing tells whether the bitmap is still what it was.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "By hand, seven commands look at bits that are taken on trust. Forebay's script first looks whether the bitmap is \
             still the one in use, and where a bit is missing, as for every other id here, whether the bitmap is whole and \
             the server has been a primary all the time: else it would deny what exists after a restart.",
    plan: "None for one id, as a wrong `no` hides a row that exists. For many ids the server is asked about itself once, and \
           Forebay is not behind.",
}];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let track = Track { runtime: &runtime, span: effort.span };
    let sides = |ids| both(&runtime, &redis.url(), ids);
    let mut tables = Vec::new();
    for (ids, question) in [(1, "one id"), (100, "100 ids")] {
        let sides = sides(ids).map(|side| track.time(side)).into();
        let mut time = Table::new(ROW, GETBITS, play(sides, effort.rounds));
        time.title = format!("A filter asked about {question}, 1 task");
        (time.unit, time.decimals) = ("µs", 1);
        tables.push(time);
    }
    let one = sides(1).map(|side| track.rate(TASKS, side)).into();
    let mut rate = Table::new(ROW, GETBITS, play(one, effort.rounds));
    rate.title = "A filter asked about one id, 64 tasks: questions a second".into();
    rate.unit = "questions a second";
    tables.push(rate);
    for (table, better) in tables.iter_mut().zip([Better::Less, Better::Less, Better::More]) {
        table.about = ABOUT.into();
        table.judge(Known::NAME, &[GETBITS], better, &WHY);
    }
    Ok(tables)
}

fn both(runtime: &Runtime, url: &str, ids: usize) -> [Arc<dyn Step>; 2] {
    [Arc::new(Known::new(runtime, url, ids)), Arc::new(Bits::new(runtime, url, ids))]
}

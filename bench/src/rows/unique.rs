//! Visitors counted over one Redis.

use std::sync::Arc;

use anyhow::Result;
use contest::Step;
use forebay_rig::Redis;
use ours::Recorder;
use peer_by_hand::{PFADD, Visitors};
use tally::{
    rounds::{Side, play},
    table::Table,
    verdict::{Because, Better},
};
use tokio::runtime::Runtime;

use super::Effort;
use crate::{
    steps::{Track, within},
    stopwatch,
};

pub(crate) const ROW: &str = "unique";

const TASKS: usize = 64;

/// So many are recorded before it is known how fast that is.
const FIRST: usize = 10_000;

/// The same by one task as by [`TASKS`].
const PFADD_ALONE: &str = "`PFADD` by hand, 1 task";
const FLUSH_ALONE: &str = "Forebay `record`, `flush` after each, 1 task";

const ABOUT: &str = "\
Visitors who never came before, until Redis has counted all of them. By hand, each task sends a `PFADD` at a time, by
redis-rs with its own settings. Batched, a task records one visitor after the other, which waits for nothing, and waits
until all are counted at the end, and whenever 100,000 wait. With a `flush` after each, who comes while others are on
their way goes with the next ones.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "A flush after each visitor is the use it is not made for: a script looks at the server's clock, so that nobody \
             is counted on a day that is over, and what is sent goes through the buffer that makes batches.",
    plan: "None: without a flush the same task records many times as many.",
}];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let track = Track { runtime: &runtime, span: effort.span };
    let recorder = Recorder::new(&runtime, &redis.url(), "batched");
    let (plain, flushing): (Arc<dyn Step>, Arc<dyn Step>) = (
        Arc::new(Visitors::new(&runtime, &redis.url())),
        Arc::new(Recorder::new(&runtime, &redis.url(), "flushed")),
    );
    let sides = vec![
        batched(&runtime, &recorder, effort),
        Side { name: FLUSH_ALONE, ..track.rate(1, flushing.clone()) },
        Side { name: PFADD_ALONE, ..track.rate(1, plain.clone()) },
        track.rate(TASKS, flushing),
        track.rate(TASKS, plain),
    ];
    let mut table = Table::new(ROW, PFADD_ALONE, play(sides, effort.rounds));
    table.title = "Visitors recorded: a second, until they are counted".into();
    table.about = ABOUT.into();
    table.unit = "visitors a second";
    let ratio = table.ratio(Recorder::BATCHES, PFADD_ALONE);
    table.bound("A task of Forebay records at least 20 times as many, batched", ratio, ratio >= 20.0);
    for (ours, peer) in
        [(Recorder::BATCHES, PFADD_ALONE), (FLUSH_ALONE, PFADD_ALONE), (Recorder::FLUSHES, PFADD)]
    {
        table.judge(ours, &[peer], Better::More, &WHY);
    }
    Ok(vec![table])
}

fn batched<'a>(runtime: &'a Runtime, recorder: &'a Recorder, effort: &Effort) -> Side<'a, f64> {
    let (mut next, mut count, span) = (0, FIRST, effort.span);
    Side::new(Recorder::BATCHES, move || {
        let ids = (next..next + count).map(|number| format!("b-{number:09}")).collect();
        next += count;
        let work = runtime.spawn(recorder.record_all(ids));
        let took = stopwatch::time(|| runtime.block_on(work).expect("all are counted"));
        let rate = count as f64 / took.as_secs_f64();
        count = within(span, rate).max(FIRST);
        rate
    })
}

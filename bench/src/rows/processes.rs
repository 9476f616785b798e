//! Many callers in four processes on one key that nobody has.

use std::time::Duration;

use anyhow::Result;
use contest::{Origin, Shared};
use forebay_rig::Redis;
use futures::future::{BoxFuture, join_all};
use ours::OverRedis;
use peer_by_hand::ByHand;
use tokio::runtime::Runtime;

use super::Effort;
use crate::{
    rounds::{Side, figures, play},
    stopwatch::Stopwatch,
    table::Table,
};

pub(crate) const ROW: &str = "processes";

const PROCESSES: usize = 4;
const CALLERS: usize = 1_000;
/// Between two rounds of asking by hand.
const ORIGIN: Duration = Duration::from_millis(350);
const ABOUT: &str = "\
Four processes (here: four connections to one Redis, on a runtime of two threads) with 250 callers each ask for one
missing key; the loader takes 350 ms. By hand is what services copy: GET, else SET NX PX as a lock, else again in 100 ms.";

/// How one stampede went.
#[derive(Debug, Clone, Copy)]
struct Stampede {
    loads: u64,
    /// From the end of the load until 99 of 100 callers had their answer.
    handover: Duration,
    commands: u64,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let ours: Vec<_> = (0..PROCESSES).map(|_| OverRedis::new(&runtime, &redis.url())).collect();
    let by_hand: Vec<_> = (0..PROCESSES).map(|_| ByHand::new(&runtime, &redis.url())).collect();
    let ours: Vec<&dyn Shared> = ours.iter().map(|process| process as _).collect();
    let by_hand: Vec<&dyn Shared> = by_hand.iter().map(|process| process as _).collect();
    let (runtime, redis) = (&runtime, &redis);
    let sides = [&ours, &by_hand].map(|processes| {
        let mut round = 0;
        Side::new(processes[0].name(), move || {
            round += 1;
            stampede(runtime, redis, processes, &format!("catalog:p-{round}"))
        })
    });
    let played = play(sides.into(), effort.rounds);
    let base = ours[0].name();
    let table = |title: &str, unit, decimals, figure: fn(&Stampede) -> f64| {
        let mut table = Table::new(ROW, base, figures(&played, figure));
        table.title = format!("1,000 callers in four processes on one missing key: {title}");
        table.about = ABOUT.into();
        (table.unit, table.decimals) = (unit, decimals);
        table
    };
    let mut loads = table("loads", "loads", 0, |one| one.loads as f64);
    let most = loads.figure(base).highest;
    loads.bound("Forebay loads once", most, most <= 1.0);
    let handover = table("from the end of the load to the answer of 99 of 100", "ms", 1, |one| {
        one.handover.as_secs_f64() * 1_000.0
    });
    let commands = table("commands that Redis carried out", "commands", 0, |one| one.commands as f64);
    Ok(vec![loads, handover, commands, failures(effort)?])
}

/// The same with a loader that fails. By hand, one caller after the other would try.
fn failures(effort: &Effort) -> Result<Table> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let processes: Vec<_> = (0..PROCESSES).map(|_| OverRedis::new(&runtime, &redis.url())).collect();
    let (base, mut round) = (processes[0].name(), 0);
    let side = Side::new(base, || {
        round += 1;
        let (key, origin) = (format!("catalog:f-{round}"), Origin::slow(ORIGIN));
        let waits = waits(&runtime, |number| processes[number % PROCESSES].fail(key.clone(), origin.clone()));
        assert_eq!(origin.loads(), 1, "one fails for all");
        waits.saturating_sub(ORIGIN).as_secs_f64() * 1_000.0
    });
    let mut table = Table::new(ROW, base, play(vec![side], effort.rounds));
    table.title = "1,000 callers in four processes, and the load fails: until 99 of 100 know".into();
    table.about = ABOUT.into();
    (table.unit, table.decimals) = ("ms", 1);
    Ok(table)
}

fn stampede(runtime: &Runtime, redis: &Redis, processes: &[&dyn Shared], key: &str) -> Stampede {
    let origin = Origin::slow(ORIGIN);
    let before = redis.commands_processed();
    let wait = waits(runtime, |number| processes[number % PROCESSES].read(key.to_owned(), origin.clone()));
    let commands = redis.commands_processed() - before;
    Stampede { loads: origin.loads(), handover: wait.saturating_sub(ORIGIN), commands }
}

/// Within what time 99 of 100 callers have their answer, which has to be the right one.
fn waits(runtime: &Runtime, call: impl Fn(usize) -> BoxFuture<'static, bool>) -> Duration {
    let watch = Stopwatch::start();
    let callers = (0..CALLERS).map(|number| {
        let call = call(number);
        runtime.spawn(async move {
            assert!(call.await, "every caller has its answer");
            watch.elapsed()
        })
    });
    let answers = runtime.block_on(join_all(callers.collect::<Vec<_>>()));
    let mut waits: Vec<Duration> = answers.into_iter().map(|wait| wait.expect("no caller panics")).collect();
    waits.sort_unstable();
    waits[CALLERS * 99 / 100]
}

//! What a read costs besides its load while Redis hangs.

use std::{cell::Cell, time::Duration};

use anyhow::Result;
use contest::{Origin, Shared};
use forebay_rig::Redis;
use ours::OverRedis;
use peer_by_hand::ByHand;

use super::Effort;
use crate::{
    rounds::{Side, play},
    stopwatch,
    table::Table,
};

pub(crate) const ROW: &str = "outage";

const ABOUT: &str = "\
The server is stopped (SIGSTOP): its sockets stay open, and nothing comes back. One caller after the other asks for a
missing key, whose loader takes no time; the fault is a second old. By hand has its client's own time-outs.";

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let (ours, by_hand) = (OverRedis::new(&runtime, &redis.url()), ByHand::new(&runtime, &redis.url()));
    redis.pause();
    while !ours.is_alone() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let (round, errors) = (Cell::new(0), Cell::new(0));
    let contestants: [&dyn Shared; 2] = [&ours, &by_hand];
    let sides = contestants.map(|side| {
        let (runtime, round, errors, ours) = (&runtime, &round, &errors, contestants[0].name());
        Side::new(side.name(), move || {
            round.set(round.get() + 1);
            let read = side.read(format!("catalog:p-{}", round.get()), Origin::slow(Duration::ZERO));
            let mut answered = false;
            let took = stopwatch::time(|| answered = runtime.block_on(read));
            errors.set(errors.get() + u32::from(!answered && side.name() == ours));
            took.as_secs_f64() * 1_000.0
        })
    });
    let mut table = Table::new(ROW, ours.name(), play(sides.into(), effort.rounds));
    table.title = "A missing key while Redis hangs: what the read costs".into();
    table.about = ABOUT.into();
    (table.unit, table.decimals) = ("ms", 2);
    let median = table.figure(ours.name()).median;
    table.bound("Forebay adds less than a millisecond", median, median < 1.0);
    let failed = f64::from(errors.get());
    table.bound("Forebay gives no error", failed, failed == 0.0);
    redis.resume();
    Ok(vec![table])
}

//! Many callers on one key that nobody has.

use std::time::Duration;

use anyhow::Result;
use contest::{Coalesce, Origin};
use futures::future::join_all;
use ours::Ours;
use peer_moka::Moka;
use peer_quick_cache::QuickCache;
use tally::{
    rounds::{Side, figures, play},
    table::Table,
    verdict::Better,
};

use super::Effort;
use crate::stopwatch;

pub(crate) const ROW: &str = "stampede";

const CALLERS: usize = 1_000;
const ORIGIN: Duration = Duration::from_millis(200);
const ABOUT: &str = "\
1,000 tasks on a runtime of two threads ask for one missing key; the loader takes 200 ms.";

/// How one stampede went.
#[derive(Debug, Clone, Copy)]
struct Stampede {
    loads: u64,
    took: Duration,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let (ours, moka, quick) = (Ours::new(), Moka::new(CALLERS), QuickCache::new(CALLERS));
    let contestants: [&dyn Coalesce; 3] = [&ours, &moka, &quick];
    let sides = contestants.iter().map(|&side| {
        let mut round = 0;
        let runtime = &runtime;
        Side::new(side.name(), move || {
            round += 1;
            stampede(runtime, side, &format!("catalog:p-{round}"))
        })
    });
    let played = play(sides.collect(), effort.rounds);
    let ours = contestants[0].name();
    let mut loads = Table::new(ROW, ours, figures(&played, |one| one.loads as f64));
    loads.title = "1,000 callers on one missing key: loads".into();
    loads.about = ABOUT.into();
    loads.unit = "loads";
    let most = loads.figure(ours).highest;
    loads.bound("Forebay loads once", most, most <= 1.0);
    let mut time = Table::new(ROW, ours, figures(&played, |one| one.took.as_secs_f64() * 1_000.0));
    time.title = "1,000 callers on one missing key: time until the last one has his answer".into();
    time.about = ABOUT.into();
    time.unit = "ms";
    time.decimals = 1;
    for table in [&mut loads, &mut time] {
        table.judge(ours, &table.peers(&[ours], &[]), Better::Less, &[]);
    }
    Ok(vec![loads, time])
}

fn stampede(runtime: &tokio::runtime::Runtime, side: &dyn Coalesce, key: &str) -> Stampede {
    let origin = Origin::slow(ORIGIN);
    let took = stopwatch::time(|| {
        let callers = (0..CALLERS).map(|_| runtime.spawn(side.read(key.to_owned(), origin.clone())));
        let answers = runtime.block_on(join_all(callers.collect::<Vec<_>>()));
        assert!(answers.iter().all(Result::is_ok), "every caller has an answer");
    });
    Stampede { loads: origin.loads(), took }
}

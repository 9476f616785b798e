//! A subject that was refused, and asks again within the second.

use anyhow::Result;
use contest::Hit;
use forebay_rig::Redis;
use ours::Denied;
use peer_dashmap::Deadlines as DashMap;
use peer_quick_cache::Deadlines as QuickCache;
use tally::{
    rounds::{Side, play},
    table::Table,
    verdict::{Because, Better},
};

use super::{Effort, ROW};
use crate::stopwatch;

/// So few that the limiter remembers every refusal.
const SUBJECTS: usize = 1_000;

/// So few that they are over before any refusal is.
const CHECKS: usize = 200_000;

const ABOUT: &str = "\
1,000 subjects, all of which have been refused within the second, zipf 0.99, 1 thread. A check is polled within one
future for all, without an executor. The maps have the same keys with a number each.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "The maps are asked for a number under a key that is there already. A check also finds the tier and whether its \
             version is still that of the refusal, compares the clock and the cost, works out how long to wait, and is a \
             future.",
    plan: "None beyond the bound of 3: no map refuses anybody.",
}];

pub(super) fn run(effort: &Effort) -> Result<Table> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let redis = Redis::start();
    let subjects = &contest::subjects()[..SUBJECTS];
    let order = drive::zipf(SUBJECTS as u32, CHECKS, 1);
    let ours = Denied::new(&runtime, &redis.url(), subjects);
    let (map, quick) = (DashMap::filled(subjects), QuickCache::filled(subjects));
    let nanoseconds = |side: &dyn Hit| {
        let took = stopwatch::time(|| side.read_all(subjects, &order));
        took.as_nanos() as f64 / order.len() as f64
    };
    let refused = Side::new(ours.name(), || {
        ours.refuse_all(&runtime);
        nanoseconds(&ours)
    });
    let got = Side::new(map.name(), || nanoseconds(&map));
    let quickly = Side::new(quick.name(), || nanoseconds(&quick));
    let mut table = Table::new(ROW, map.name(), play(vec![refused, got, quickly], effort.rounds));
    table.title = "A limiter's check of a subject that was just refused".into();
    table.about = ABOUT.into();
    table.unit = "ns per check";
    let ratio = table.ratio(ours.name(), map.name());
    table.bound("Forebay takes at most 3 times a plain `get` of dashmap", ratio, ratio <= 3.0);
    table.judge(ours.name(), &[map.name(), quick.name()], Better::Less, &WHY);
    Ok(table)
}

//! What a subject with two windows takes of Redis' memory.

use std::{thread, time::Duration};

use anyhow::{Result, ensure};
use contest::{Check, Window};
use forebay_rig::Redis;
use futures::future::join_all;
use ours::limits::{Limits, MODES, Mode, name};
use tally::{rounds::Samples, table::Table};
use tokio::runtime::Runtime;

use super::{Effort, ROW};

/// So many subjects are weighed.
const SUBJECTS: usize = 20;
const TICK: Duration = Duration::from_millis(100);

const MOST: [(Mode, f64); 3] = [(Mode::Strict, 230.0), (Mode::Sliding, 160.0), (Mode::Gcra, 160.0)];

/// What is asked of one subject.
struct Use {
    what: &'static str,
    windows: [Window; 2],
    cost: u64,
    /// Between two checks, in ticks.
    pause: u32,
    modes: &'static [Mode],
    is_bound: bool,
}

const USES: [Use; 3] = [
    Use {
        what: "60 a minute and 2,000 an hour, the minute used up",
        windows: [seconds(60, 60), seconds(2_000, 3_600)],
        cost: 1,
        pause: 3,
        modes: &MODES,
        is_bound: true,
    },
    Use {
        what: "60 in 2 s and 500 in 20 s, for longer than both",
        windows: [seconds(60, 2), seconds(500, 20)],
        cost: 1,
        pause: 1,
        modes: &MODES,
        is_bound: true,
    },
    Use {
        what: "100,000,000,000 in 2 s and 400,000,000,000 in 20 s, for longer than both",
        windows: [seconds(100_000_000_000, 2), seconds(400_000_000_000, 20)],
        cost: 2_000_000_000,
        pause: 1,
        modes: &[Mode::Strict, Mode::Sliding, Mode::Gcra],
        // Counters this large take more bytes.
        is_bound: false,
    },
];

const fn seconds(limit: u64, seconds: u64) -> Window {
    Window { limit, span: Duration::from_secs(seconds) }
}

/// A server with a limiter for each mode.
struct Filled {
    redis: Redis,
    limiters: Vec<(Mode, Limits)>,
}

pub(super) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let filled = USES.map(|one| Filled::new(&runtime, &one));
    let subjects = &contest::subjects()[..SUBJECTS];
    let ticks = (effort.fill.as_millis() / TICK.as_millis()) as u32;
    for tick in 0..ticks {
        let due = USES.iter().zip(&filled).filter(|(one, _)| tick.is_multiple_of(one.pause));
        let limiters = due.flat_map(|(_, filled)| &filled.limiters);
        let checks =
            limiters.flat_map(|(_, limits)| subjects.iter().map(|subject| limits.check(subject.clone())));
        // Some are refused, which is what the limits are for.
        runtime.block_on(join_all(checks));
        thread::sleep(TICK);
    }
    USES.iter().zip(&filled).map(|(one, filled)| filled.table(one)).collect()
}

impl Filled {
    fn new(runtime: &Runtime, one: &Use) -> Self {
        let redis = Redis::start();
        let limits = |&mode: &Mode| (mode, Limits::of(runtime, &redis.url(), mode, &one.windows, one.cost));
        Self { limiters: one.modes.iter().map(limits).collect(), redis }
    }

    fn table(&self, one: &Use) -> Result<Table> {
        let samples = self
            .limiters
            .iter()
            .map(|(mode, limits)| Ok(Samples { name: name(*mode), samples: self.weigh(limits.policy())? }));
        let mut table = Table::new(ROW, name(Mode::Strict), samples.collect::<Result<_>>()?);
        table.title = format!("What a subject takes in Redis: {}", one.what);
        table.about = about();
        table.unit = "bytes per subject";
        for (mode, most) in MOST.into_iter().filter(|_| one.is_bound) {
            let bytes = table.figure(name(mode)).highest;
            table.bound(format!("{}: at most {most} bytes", name(mode)), bytes, bytes <= most);
        }
        Ok(table)
    }

    fn weigh(&self, policy: &str) -> Result<Vec<f64>> {
        let keys = self.redis.call(&["KEYS", &format!("rate_limit:*:{policy}:*")]);
        let bytes = keys.lines().filter_map(|key| self.redis.bytes_of(key)).map(|bytes| bytes as f64);
        let bytes: Vec<f64> = bytes.collect();
        ensure!(bytes.len() == SUBJECTS, "{policy} has {} subjects in Redis", bytes.len());
        Ok(bytes)
    }
}

fn about() -> String {
    format!(
        "Bytes by `MEMORY USAGE`, with a key like `rate_limit:bench:gcra:{{user:u-000001}}`, for each of {SUBJECTS} \
         subjects\nwith two windows. The spread is over the subjects."
    )
}

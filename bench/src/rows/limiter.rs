//! Limiters over one Redis: how many checks a second they make, and what a check costs.

mod denied;
mod load;
mod memory;
mod program;

use anyhow::Result;
use contest::Windows;
use ours::limits::{MODES, Mode, name};
use tally::{
    rounds::figures,
    table::Table,
    verdict::{Because, Better},
};

use self::load::{Load, Sample};
use super::Effort;

pub(crate) const ROW: &str = "limiter";

const TASKS: [usize; 3] = [1, 64, 256];

/// So many tasks have something to keep.
const MANY: usize = 64;

/// How often the time of one command in a script a check may take the server.
const MOST: [(Mode, f64); 3] = [(Mode::Strict, 4.0), (Mode::Sliding, 2.5), (Mode::Gcra, 2.5)];

const ABOUT: &str = "\
Tasks that check as fast as they can, one check each at a time, round-robin over 10,000 subjects, all of which are
admitted: 1,000,000 a minute, and 100,000,000 an hour as the second window; Forebay's `log` ends at 10,000. One process
with its client's own settings over one Redis. With two windows, tower-rate-tier, trypema, `limits` and the sorted set
make two checks, one after the other, and `rate-limiter-flexible` two at once; only Forebay takes from both or from none.
`rate-limiter-flexible` has fixed windows; one command in a script sets a value with its expiry, and limits nothing.
limitador 0.14 does not build without its store on disk.";

/// By what others do less.
const WHY: [Because; 2] = [
    Because {
        peers: &["Node `rate-limiter-flexible`"],
        reason: "It counts in fixed windows, by one `INCRBY` with an expiry: twice the limit passes where two windows meet. \
                 Forebay's windows slide, which takes more than a counter.",
        plan: "None: a count with that fault is not offered.",
    },
    Because {
        peers: &[],
        reason: "A script that reads the server's clock, and decides on both windows of a subject before it takes from \
                 either. Others write into a sorted set or a counter without that, and take also from those they refuse.",
        plan: "None beyond the bounds on what a script costs beside one command.",
    },
];

/// Why the log of every call is behind.
const WHY_LOG: [Because; 1] = [Because {
    peers: &[],
    reason: "`log` keeps the instant of every call in a sorted set, so that its answer is exact for calls of any cost, and \
             has to trim it at each check. It is for small limits that have to be exact.",
    plan: "None: `strict` promises the same bound at the price of the others, and is the default.",
}];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for windows in [Windows::One, Windows::Two] {
        for tasks in TASKS {
            let load = load::run(windows, tasks, effort)?;
            tables.push(checks(&load));
            match tasks {
                1 => tables.push(requests(&load)),
                MANY => tables.push(server(&load)),
                _ => {}
            }
        }
    }
    tables.push(denied::run(effort)?);
    tables.extend(memory::run(effort)?);
    Ok(tables)
}

fn checks(load: &Load) -> Table {
    let mut table = table(load, name(Mode::Strict), "checks a second", |sample| sample.per_second);
    let peers: Vec<_> = table.figures.iter().map(|figure| figure.name).filter(|name| is_peer(name)).collect();
    for mode in MOST.map(|(mode, _)| name(mode)).into_iter().filter(|_| load.tasks == MANY) {
        let least = peers.iter().map(|peer| table.ratio(mode, peer)).fold(f64::INFINITY, f64::min);
        table.bound(format!("{mode} makes more checks than any library"), least, least > 1.0);
    }
    judge(&mut table, Better::More);
    table
}

fn server(load: &Load) -> Table {
    let base = load::floor();
    let mut table = table(load, base, "µs of the server for the scripts of a check", |sample| {
        sample.server.as_secs_f64() * 1_000_000.0
    });
    table.decimals = 2;
    for (mode, most) in MOST.into_iter().filter(|_| load.windows == Windows::Two) {
        let ratio = table.ratio(name(mode), base);
        table.bound(format!("{} takes at most {most} times one command", name(mode)), ratio, ratio <= most);
    }
    judge(&mut table, Better::Less);
    table
}

fn requests(load: &Load) -> Table {
    let mut table = table(load, load::floor(), "round trips of a check", |sample| sample.reads);
    table.decimals = 2;
    for mode in MODES.map(name) {
        let trips = table.figure(mode).median;
        table.bound(format!("{mode} makes one round trip"), trips, (0.95..1.05).contains(&trips));
    }
    judge(&mut table, Better::Less);
    table
}

fn table(load: &Load, base: &'static str, unit: &'static str, figure: fn(&Sample) -> f64) -> Table {
    let mut table = Table::new(ROW, base, figures(&load.played, figure));
    let windows = if load.windows == Windows::One { "one window" } else { "two windows" };
    let tasks = if load.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", load.tasks) };
    table.title = format!("A limiter's checks, {windows}, {tasks}: {unit}");
    table.about = ABOUT.into();
    for missing in &load.missing {
        table.about += &format!("\nMissing: {missing}.");
    }
    table.unit = unit;
    table
}

fn judge(table: &mut Table, better: Better) {
    let peers = table.peers(&MODES.map(name), &[load::floor()]);
    for mode in MODES {
        let because: &[_] = if mode == Mode::Log { &WHY_LOG } else { &WHY };
        table.judge(name(mode), &peers, better, because);
    }
}

/// Whether it is a library that a service could take instead. The snippet by hand is none: it also takes from those that
/// it refuses, and is shown as what that saves.
fn is_peer(name: &str) -> bool {
    name != load::floor() && name != load::by_hand() && !MODES.iter().any(|&mode| self::name(mode) == name)
}

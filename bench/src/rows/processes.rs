//! Many callers in one and in four processes on one key that nobody has.

use std::{thread, time::Duration};

use anyhow::Result;
use contest::Origin;
use drive::Stampede;
use ours::OverRedis;
use tally::{
    rounds::{Played, Side, play, play_what_runs},
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;
use crate::{
    caches::{Contestant, Contestants, Memory, Place},
    stopwatch::Stopwatch,
};

pub(crate) const ROW: &str = "processes";

const PROCESSES: usize = 4;
const CALLERS: usize = 1_000;

/// How long a load takes: it ends between two turns of those who ask again every 100 ms.
const ORIGIN: Duration = Duration::from_millis(350);

/// How long it is looked what Redis carries out for nobody.
const IDLE: Duration = Duration::from_secs(3);

/// Some take seconds for each.
const ROUNDS: u32 = 3;

const ABOUT: &str = "\
1,000 callers ask for one missing key at once; the load takes 350 ms. Four processes have 250 callers each; of crates a
process is here a connection of its own, all on one runtime of two threads. `GET` and a lock is what services copy: GET,
else SET NX PX as a lock, else again in 100 ms. `dogpile.cache` has a thread for each caller. Who has no answer within 10 s
has none: a `–` is where too few have one. Commands are those beyond what Redis carries out in such a time when nobody is
asked, as connections of all of them look after themselves: a handful may be lost in that. No more than three rounds, as
some take seconds for each.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "For one load in a process these send a handful of commands: a `GET`, a `SET`, and a lock if any. Forebay's processes \
             each ask for one lease, wait until its holder tells them, and look again; the lease is granted, and the value \
             stored under it, by scripts, whose commands are counted, too.",
    plan: "None: the commands are those of a load, and do not grow with the callers.",
}];

/// How one stampede went.
#[derive(Debug, Clone)]
struct Outcome {
    loads: u64,
    errors: u64,
    /// In milliseconds, sorted, of those who had an answer.
    waits: Vec<f64>,
    /// Beyond those of an idle time.
    commands: f64,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let place = Place::new()?;
    let Contestants { mut all, missing } = Contestants::start(&place, PROCESSES, Memory::Usual);
    let mut tables = Vec::new();
    for (processes, spelled) in [(1, "one process"), (PROCESSES, "four processes")] {
        let idle = idle(&place);
        let sides = all.iter_mut().map(|contestant| side(&place, contestant, processes, idle));
        let mut played = play_what_runs(sides.collect(), effort.rounds.at_most(ROUNDS));
        played.missing.extend(missing.iter().cloned());
        tables.extend(report(&played, spelled)?);
    }
    tables.push(failures(effort)?);
    Ok(tables)
}

/// The commands a second that Redis carries out when nobody is asked.
fn idle(place: &Place) -> f64 {
    let (before, watch) = (place.redis.commands_processed(), Stopwatch::start());
    thread::sleep(IDLE);
    let seconds = watch.elapsed().as_secs_f64();
    (place.redis.commands_processed() - before - 1) as f64 / seconds
}

fn side<'a>(
    place: &'a Place,
    contestant: &'a mut Contestant,
    processes: usize,
    idle: f64,
) -> Side<'a, Result<Outcome>> {
    let mut round = 0;
    Side::new(contestant.name, move || {
        round += 1;
        let key = format!("in-{processes}-{round}");
        let order = Stampede { key, callers: CALLERS, milliseconds: ORIGIN.as_millis() as u64 };
        let (before, watch) = (place.redis.commands_processed(), Stopwatch::start());
        let mut rush = contestant.stampede(&place.runtime, order, processes)?;
        let others = idle * watch.elapsed().as_secs_f64();
        // The question is a command, too.
        let commands = (place.redis.commands_processed() - before - 1) as f64 - others;
        rush.waits.sort_unstable_by(f64::total_cmp);
        Ok(Outcome { loads: rush.loads, errors: rush.errors, waits: rush.waits, commands: commands.max(0.0) })
    })
}

fn report(played: &Played<Outcome>, spelled: &str) -> Result<[Table; 5]> {
    let table = |title: &str, unit, figure: fn(&Outcome) -> f64| {
        let mut table = Table::of(ROW, OverRedis::NAME, played.figures(figure), ABOUT, &[])?;
        table.title = format!("1,000 callers in {spelled} on one missing key: {title}");
        table.unit = unit;
        table.judge(OverRedis::NAME, &table.peers(&[OverRedis::NAME], &[]), Better::Less, &WHY);
        anyhow::Ok(table)
    };
    let mut loads = table("loads", "loads", |one| one.loads as f64)?;
    let most = loads.figure(OverRedis::NAME).highest;
    loads.bound("Forebay loads once", most, most <= 1.0);
    let mut errors = table("callers without an answer", "errors", |one| one.errors as f64)?;
    let most = errors.figure(OverRedis::NAME).highest;
    errors.bound("Forebay answers everyone", most, most == 0.0);
    let half = table("until half of them have their answer", "ms", |one| one.within(50))?;
    let most = table("until 99 of 100 have their answer", "ms", |one| one.within(99))?;
    let commands = table("commands that Redis carried out", "commands", |one| one.commands)?;
    Ok([loads, errors, half, most, commands])
}

impl Outcome {
    /// Within how many milliseconds so many of 100 callers have their answer: who has none waits for ever.
    fn within(&self, percent: usize) -> f64 {
        let callers = self.waits.len() + self.errors as usize;
        self.waits.get(callers * percent / 100).copied().unwrap_or(f64::INFINITY)
    }
}

/// The same with a loader that fails. By hand, one caller after the other would try.
fn failures(effort: &Effort) -> Result<Table> {
    let place = Place::new()?;
    let process = || OverRedis::new(&place.runtime, &place.redis.url());
    let processes: Vec<_> = std::iter::repeat_with(process).take(PROCESSES).collect();
    let mut round = 0;
    let side = Side::new(OverRedis::NAME, || {
        round += 1;
        let (key, origin) = (format!("fails-{round}"), Origin::slow(ORIGIN));
        let call = |number: usize| processes[number % PROCESSES].fail(key.clone(), origin.clone());
        let calls = place.runtime.block_on(drive::call_all(CALLERS, call));
        assert!(calls.iter().all(|(_, told)| *told), "every caller is told");
        assert_eq!(origin.loads(), 1, "one fails for all");
        let mut waits: Vec<Duration> = calls.into_iter().map(|(wait, _)| wait).collect();
        waits.sort_unstable();
        waits[CALLERS * 99 / 100].saturating_sub(ORIGIN).as_secs_f64() * 1_000.0
    });
    let mut table = Table::new(ROW, OverRedis::NAME, play(vec![side], effort.rounds));
    table.title =
        "1,000 callers in four processes, and the load fails: from then until 99 of 100 know".into();
    table.about = ABOUT.into();
    (table.unit, table.decimals) = ("ms", 1);
    Ok(table)
}

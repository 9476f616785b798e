//! What a read costs besides its load while Redis hangs.

use std::{thread, time::Duration};

use anyhow::Result;
use drive::{Cost, Miss};
use ours::OverRedis;
use tally::{
    rounds::{Side, play_what_runs_cold},
    table::Table,
    verdict::Better,
};

use super::Effort;
use crate::{
    caches::{Contestant, Contestants, Memory, Place},
    stopwatch::Stopwatch,
};

pub(crate) const ROW: &str = "outage";

/// Some take seconds for each.
const ROUNDS: u32 = 3;

/// How old the fault is at the first read.
const AGE: Duration = Duration::from_secs(1);

/// For so long a cache may take to come back after a fault.
const BACK: Duration = Duration::from_secs(5);

/// How long a value may be on its way into Redis.
const STORED: Duration = Duration::from_millis(100);

const ABOUT: &str = "\
The server is stopped (SIGSTOP): its sockets stay open, and nothing comes back. One caller asks for a missing key, whose
load takes no time, when the fault is a second old, and for another one after that. Each cache has a fault of its own,
before which it is read until a value of its is in Redis, or for 5 s if none comes. All have their own and their client's
settings. Nobody waits for more than 5 s: then there was no answer. Three rounds, as some take seconds for each read.";

/// How one cache fared in one outage.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    first: Cost,
    later: Cost,
}

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let place = Place::new()?;
    let Contestants { mut all, missing } = Contestants::start(&place, 1, Memory::Usual);
    let sides = all.iter_mut().enumerate().map(|(index, contestant)| {
        let (place, mut round) = (&place, 0);
        Side::new(contestant.name, move || {
            round += 1;
            outage(place, contestant, &format!("{index}-{round}"))
        })
    });
    let mut played = play_what_runs_cold(sides.collect(), effort.rounds.at_most(ROUNDS));
    played.missing.extend(missing);
    let table = |title: &str, unit, decimals, figure: fn(&Outcome) -> f64| {
        let mut table = Table::of(ROW, OverRedis::NAME, played.figures(figure), ABOUT, &[])?;
        table.title = format!("A missing key while Redis hangs: {title}");
        (table.unit, table.decimals) = (unit, decimals);
        table.judge(OverRedis::NAME, &table.peers(&[OverRedis::NAME], &[]), Better::Less, &[]);
        anyhow::Ok(table)
    };
    let first = table("what the first read costs", "ms", 2, |one| one.first.milliseconds)?;
    let mut later = table("what the next read costs", "ms", 2, |one| one.later.milliseconds)?;
    let median = later.figure(OverRedis::NAME).median;
    later.bound("Forebay adds less than a millisecond once it knows", median, median < 1.0);
    let mut errors = table("reads without an answer", "of two", 0, |one| {
        f64::from(u8::from(!one.first.answered) + u8::from(!one.later.answered))
    })?;
    let most = errors.figure(OverRedis::NAME).highest;
    errors.bound("Forebay gives no error", most, most == 0.0);
    place.redis.resume();
    Ok(vec![first, later, errors])
}

/// What two reads cost, one after the other. Redis is left as it is then.
fn outage(place: &Place, contestant: &mut Contestant, key: &str) -> Result<Outcome> {
    place.redis.resume();
    come_back(place, contestant, key)?;
    place.redis.pause();
    thread::sleep(AGE);
    let mut miss = |read| contestant.miss(&place.runtime, Miss { key: format!("{read}-{key}") });
    Ok(Outcome { first: miss("first")?, later: miss("later")? })
}

/// Reads until a value is in Redis, or until the cache has had its time.
fn come_back(place: &Place, contestant: &mut Contestant, key: &str) -> Result<()> {
    let (watch, mut turn) = (Stopwatch::start(), 0);
    while watch.elapsed() < BACK {
        turn += 1;
        let key = format!("before-{key}-{turn}");
        contestant.miss(&place.runtime, Miss { key: key.clone() })?;
        thread::sleep(STORED);
        if place.redis.call(&["KEYS", &format!("*{key}*")]).contains(&key) {
            break;
        }
    }
    Ok(())
}

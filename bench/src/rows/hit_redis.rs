//! A hit in Redis.

use anyhow::{Result, ensure};
use drive::{Fill, Hits};
use ours::OverRedis;
use peer_by_hand::{GET, MokaOverRedis, PTTL_AND_GET};
use peer_cached::Cached;
use tally::{
    rounds::{Played, Side, play_what_runs},
    table::Table,
    verdict::{Because, Better},
};

use super::Effort;
use crate::{
    caches::{Contestant, Contestants, Memory, Place},
    steps::within,
};

pub(crate) const ROW: &str = "hit-redis";

const SIZES: [(usize, &str); 3] = [(256, "256 B"), (4 << 10, "4 KiB"), (20 << 10, "20 KiB")];
const TASKS: [usize; 2] = [1, 64];

/// So many tasks have something to keep.
const MANY: usize = 64;

/// A multiple of the tasks, each of which has keys of its own thereby: nobody waits for another one's read.
const KEYS: usize = 8 * MANY;

/// How often a contestant reads before it is known how fast it is.
const FIRST: usize = 500;

const ABOUT: &str = "\
Tasks that read as fast as they can, one read each at a time, spread over 512 articles: a number, a title and a text of
this size, all of which are in Redis. A read hands out the decoded article. Nothing is kept in the process; Forebay
jitters lives, keeps what is stale, does not compress, and waits a second for Redis. By hand with `redis`, and for `moka`,
which has no room and only lets readers of one key ask once, it is Forebay's codec, MessagePack with named fields; each
other peer has its own. One process over one Redis, both on the same cores. `dogpile.cache` has a thread for each task.";

/// What is left to save where a bound is missed.
const PLAN: &str = "The bounds with 64 tasks stay. What is left to save is a timer for each call, where one deadline for a \
                    pipeline would do, and readings of the clock, of which a hit takes six.";

const WHY: [Because; 4] = [
    Because {
        peers: &[PTTL_AND_GET],
        reason: "By hand, the same two commands bring the same bytes to the same decoder. Forebay besides ends the call \
                 after its budget, which takes a timer, enters the read as a flight that callers of the same id would \
                 share, and looks into the envelope for whether the value is stale, tagged or an absence.",
        plan: PLAN,
    },
    Because {
        peers: &[GET, MokaOverRedis::NAME],
        reason: "One command, which does not tell how long the value still lives: nothing can be refreshed ahead, or \
                 handed out while it is stale. No read ends by itself where Redis does not answer.",
        plan: PLAN,
    },
    Because {
        peers: &[Cached::NAME],
        reason: "One `GET`, and no coordination at all: callers of one key each ask and each load, nothing is stale, leased \
                 or tagged, and no read ends by itself where Redis does not answer.",
        plan: "None: it is behind in every row that asks for these.",
    },
    Because {
        peers: &[],
        reason: "One `GET` for a read. Forebay's read is two commands and a flight with a budget, so that a value can be \
                 stale, and no caller waits longer than it has to.",
        plan: PLAN,
    },
];

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for (bytes, size) in SIZES {
        let place = Place::new()?;
        let Contestants { mut all, mut missing } = Contestants::start(&place, 1, Memory::Off);
        all.retain_mut(|contestant| match filled(&place, contestant, bytes) {
            Ok(()) => true,
            Err(error) => {
                missing.push(format!("{} ({error:#})", contestant.name));
                false
            }
        });
        for tasks in TASKS {
            let sides = all.iter_mut().map(|contestant| side(&place, contestant, tasks, bytes, effort));
            let mut played = play_what_runs(sides.collect(), effort.rounds);
            played.missing.extend(missing.iter().cloned());
            tables.push(table(played, tasks, size)?);
        }
    }
    Ok(tables)
}

fn filled(place: &Place, contestant: &mut Contestant, bytes: usize) -> Result<()> {
    let rate = contestant.fill(&place.runtime, Fill { keys: KEYS, bytes })?;
    ensure!(rate.wrong == 0, "{} of {KEYS} loads go wrong", rate.wrong);
    Ok(())
}

/// The reads a second that so many tasks make together.
fn side<'a>(
    place: &'a Place,
    contestant: &'a mut Contestant,
    tasks: usize,
    bytes: usize,
    effort: &Effort,
) -> Side<'a, Result<f64>> {
    let (mut count, span) = (FIRST, effort.span);
    Side::new(contestant.name, move || {
        let rate = contestant.hits(&place.runtime, Hits { tasks, count, keys: KEYS, bytes })?;
        // A request of Forebay fails by itself where the machine stands still for a second, as it may.
        ensure!(rate.wrong <= count as u64 / 100, "{} of {count} reads are no hits", rate.wrong);
        count = within(span, rate.per_second).max(tasks);
        Ok(rate.per_second)
    })
}

fn table(played: Played<f64>, tasks: usize, size: &str) -> Result<Table> {
    let mut table = Table::of(ROW, GET, played, ABOUT, &[OverRedis::NAME, PTTL_AND_GET])?;
    let plural = if tasks > 1 { "s" } else { "" };
    table.title = format!("Hit in Redis, {size}, {tasks} task{plural}");
    table.unit = "hits a second";
    table.judge(OverRedis::NAME, &table.peers(&[OverRedis::NAME], &[]), Better::More, &WHY);
    if tasks == MANY {
        for (by_hand, least) in [(PTTL_AND_GET, 0.9), (GET, 0.7)] {
            let ratio = table.ratio(OverRedis::NAME, by_hand);
            let promise = format!("Forebay makes at least {least} times the hits of {by_hand}");
            table.bound(promise, ratio, ratio >= least);
        }
        // By hand there is a bound already.
        let excepted = [PTTL_AND_GET, GET, Cached::NAME];
        table.bound_ahead(OverRedis::NAME, &excepted);
    }
    Ok(table)
}

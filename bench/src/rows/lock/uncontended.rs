//! A lock that nobody else wants.

use std::sync::Arc;

use anyhow::Result;
use contest::Uncontended;
use ours::Locker;
use peer_by_hand::{Ping, ROUND_TRIP};
use programs::Program;
use tally::{
    rounds::{Side, play},
    table::Table,
    verdict::{Because, Better},
};

use super::{Contestant, Contestants, Effort, Place, ROW};
use crate::{cores, steps::Track};

/// How often a program locks before it is known how fast it is.
const FIRST: usize = 200;

const ABOUT: &str = "\
One task acquires a lock and releases it, one name after the other of 1,000; a figure is the median of a round. A round
trip is a PING by a plain multiplexed connection of redis-rs, with which rslock works, too. All with their own settings,
in one thread on one core, with the server on the other: where the scheduler puts both on one core, a round trip takes a
third of that. Forebay's lock has a fence, and is renewed by a task while it is held; rslock and redis-py have neither. A
guard that is dropped is freed by a task, for which nobody waits.";

const WHY: [Because; 1] = [Because {
    peers: &[],
    reason: "rslock takes a lock by one `SET NX PX`. Forebay's is a script, as the lock and its fence are written together: \
             with the clock that the fence is made of, that is one command more to read and one more to write. Both are \
             freed by a script.",
    plan: "None: the fence is what keeps a holder that was stopped from writing. A guard that is dropped is freed behind its \
           holder's back, and is ahead.",
}];

pub(super) fn run(place: &Place, effort: &Effort) -> Result<Table> {
    let mut contestants = Contestants::start_alone(place);
    let track = Track { runtime: &place.runtime, span: effort.span };
    let ping = Arc::new(Ping::new(&place.runtime, &place.redis.url()));
    let peers: Vec<_> = contestants.all.iter().filter(|one| one.is_peer()).map(Contestant::name).collect();
    let mut sides = vec![track.time(ping)];
    for contestant in &mut contestants.all {
        sides.push(match contestant {
            Contestant::Crate { processes, .. } => track.time(Arc::new(Uncontended(processes[0].clone()))),
            Contestant::Program(program) => ask(program, effort)?,
        });
    }
    let mut table = Table::new(ROW, ROUND_TRIP, play(sides, effort.rounds));
    table.title = "A lock that nobody else wants: acquired and released".into();
    table.about = ABOUT.into();
    (table.unit, table.decimals) = ("µs", 1);
    let trips = table.ratio(Locker::RELEASES, ROUND_TRIP);
    table.bound("Forebay takes at most 2.5 round trips", trips, trips <= 2.5);
    for ours in [Locker::RELEASES, Locker::DROPS] {
        table.judge(ours, &peers, Better::Less, &WHY);
    }
    for peer in peers {
        let ratio = table.ratio(Locker::RELEASES, peer);
        table.bound(format!("Forebay takes less than {peer}"), ratio, ratio < 1.0);
    }
    Ok(table)
}

fn ask<'a>(program: &'a mut Program, effort: &'a Effort) -> Result<Side<'a, f64>> {
    cores::keep_client(program.pid())?;
    let mut count = FIRST;
    Ok(Side::new(program.name, move || {
        let order = format!("uncontended {count}");
        let microseconds: f64 = program.ask(&order).expect("a program that has started goes on");
        count = (effort.span.as_secs_f64() * 1e6 / microseconds) as usize + 1;
        microseconds
    }))
}

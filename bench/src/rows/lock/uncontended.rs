//! A lock that nobody else wants.

use std::sync::Arc;

use anyhow::Result;
use contest::Uncontended;
use peer_by_hand::{Ping, ROUND_TRIP};

use super::{Contestant, Contestants, Effort, Place, ROW};
use crate::{
    programs::Program,
    rounds::{Side, play},
    steps::Track,
    table::Table,
};

/// How often a program locks before it is known how fast it is.
const FIRST: usize = 200;

const ABOUT: &str = "\
One task acquires a lock and releases it, one name after the other of 1,000; a figure is the median of a round. A round
trip is a PING by a plain multiplexed connection of redis-rs, with which rslock works, too. Forebay and rslock run on a
runtime of two threads, `Lock` of redis-py on asyncio, all with their own settings.";

pub(super) fn run(place: &Place, contestants: &mut Contestants, effort: &Effort) -> Result<Table> {
    let track = Track { runtime: &place.runtime, span: effort.span };
    let ping = Arc::new(Ping::new(&place.runtime, &place.redis.url()));
    let mut sides = vec![track.time(ping)];
    for contestant in &mut contestants.all {
        sides.push(match contestant {
            Contestant::Crate { processes, .. } => track.time(Arc::new(Uncontended(processes[0].clone()))),
            Contestant::Program(program) => ask(program, effort),
        });
    }
    let mut table = Table::new(ROW, ROUND_TRIP, play(sides, effort.rounds));
    table.title = "A lock that nobody else wants: acquired and released".into();
    table.about = ABOUT.into();
    (table.unit, table.decimals) = ("µs", 1);
    Ok(table)
}

fn ask<'a>(program: &'a mut Program, effort: &'a Effort) -> Side<'a, f64> {
    let mut count = FIRST;
    Side::new(program.name, move || {
        let order = format!("uncontended {count}");
        let microseconds: f64 = program.ask(&order).expect("a program that has started goes on");
        count = (effort.span.as_secs_f64() * 1e6 / microseconds) as usize + 1;
        microseconds
    })
}

//! What it costs a hit in process memory that everything is told of.

use anyhow::Result;
use contest::Hit;
use ours::{Ours, Watched};
use tally::{
    rounds::{Side, play},
    table::Table,
};

use super::{Effort, hit};

pub(crate) const ROW: &str = "metrics";

const ABOUT: &str = "\
As the hit in process memory, on one thread. Watched is a cache whose events become metrics, which are written once a
second as the server does it, and of which it is known which ids are read most.";

pub(crate) fn run(effort: &Effort) -> Result<Vec<Table>> {
    let keys = contest::keys(hit::KEYS as usize);
    let (ours, watched) = (Ours::filled(&keys), Watched::filled(&keys));
    let orders = [drive::zipf(hit::KEYS, effort.reads, 1)];
    let contestants: [&dyn Hit; 2] = [&watched, &ours];
    let sides = contestants.map(|side| Side::new(side.name(), || drive::nanoseconds(side, &keys, &orders)));
    let mut table = Table::new(ROW, ours.name(), play(sides.into(), effort.rounds));
    table.title = "Hit in process memory while everything is told of".into();
    table.about = ABOUT.into();
    table.unit = "ns per hit";
    let ratio = table.ratio(watched.name(), ours.name());
    table.bound("Watched takes at most 1.15 times as long", ratio, ratio <= 1.15);
    Ok(vec![table])
}

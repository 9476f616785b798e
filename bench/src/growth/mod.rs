//! The curves: how the cost of a request grows with what a service has more of.

mod callers;
mod copies;
mod curve;
mod keys;
mod missing;
mod processes;
mod reads;
mod sizes;
mod subjects;
mod worker;

use std::time::Duration;

use anyhow::Result;
use tally::rounds::Rounds;
use tokio::runtime::Runtime;

pub(crate) use self::{
    curve::{Curve, Line, Point, Scale},
    worker::serve,
};

/// All curves, in the order of the report.
pub(crate) const ALL: [Growth; 6] = [
    Growth { name: "keys", seconds: 130, run: keys::run },
    Growth { name: "sizes", seconds: 40, run: sizes::run },
    Growth { name: "callers", seconds: 40, run: callers::run },
    Growth { name: "missing", seconds: 15, run: missing::run },
    Growth { name: "processes", seconds: 20, run: processes::run },
    Growth { name: "subjects", seconds: 55, run: subjects::run },
];

/// One curve.
pub(crate) struct Growth {
    pub(crate) name: &'static str,
    /// What it takes in full, on two cores.
    pub(crate) seconds: u64,
    pub(crate) run: fn(&Extent) -> Result<Curve>,
}

/// So many tasks where their number is not what grows.
const TASKS: usize = 64;

/// A figure is the median of so many rounds.
pub(crate) const ROUNDS: Rounds = Rounds::exactly(3);

/// How far it grows.
#[derive(Debug)]
pub(crate) struct Extent {
    /// How long each point is measured in one round.
    span: Duration,
    /// How often process memory is read in one round.
    reads: usize,
    keys: u64,
    keys_in_memory: u64,
    bytes: u64,
    callers: u64,
    processes: usize,
    subjects: u64,
}

impl Extent {
    pub(crate) fn full() -> Self {
        Self {
            span: Duration::from_millis(500),
            reads: 1_000_000,
            keys: 10_000_000,
            keys_in_memory: 1_000_000,
            bytes: 1 << 20,
            callers: 10_000,
            processes: 8,
            subjects: 1_000_000,
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            span: Duration::from_millis(30),
            reads: 10_000,
            keys: 100_000,
            keys_in_memory: 10_000,
            bytes: 64 << 10,
            callers: 1_000,
            processes: 2,
            subjects: 10_000,
        }
    }
}

/// As rows on Redis have it.
fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// 1,000, 10,000 and so on.
fn decades(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_000), |count| Some(count * 10)).take_while(move |&count| count <= most)
}

/// The microseconds of one step at so many a second.
fn each(per_second: f64) -> f64 {
    1e6 / per_second
}

//! The rows: what is measured.

mod claim;
mod filter;
mod hit;
mod hit_redis;
mod idempotency;
mod limiter;
mod lock;
mod memory;
mod metrics;
mod outage;
mod processes;
mod races;
mod stampede;
mod unique;

use std::time::Duration;

use anyhow::Result;
use tally::{rounds::Rounds, table::Table};

/// How often each contestant is measured, unless it is said.
pub(crate) const ROUNDS: u32 = 11;

/// No table begins another round later than this, but for its third.
const PATIENCE: Duration = Duration::from_secs(20);

/// One named measurement.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// What it takes with as many rounds as by default, on two cores.
    pub(crate) seconds: u64,
    pub(crate) run: fn(&Effort) -> Result<Vec<Table>>,
}

/// All rows, in the order of the report.
pub(crate) const ALL: [Row; 14] = [
    Row { name: hit::ROW, seconds: 45, run: hit::run },
    Row { name: metrics::ROW, seconds: 10, run: metrics::run },
    Row { name: hit_redis::ROW, seconds: 150, run: hit_redis::run },
    Row { name: memory::ROW, seconds: 30, run: memory::run },
    Row { name: stampede::ROW, seconds: 5, run: stampede::run },
    Row { name: processes::ROW, seconds: 130, run: processes::run },
    Row { name: races::ROW, seconds: 70, run: races::run },
    Row { name: outage::ROW, seconds: 250, run: outage::run },
    Row { name: limiter::ROW, seconds: 175, run: limiter::run },
    Row { name: lock::ROW, seconds: 75, run: lock::run },
    Row { name: claim::ROW, seconds: 5, run: claim::run },
    Row { name: idempotency::ROW, seconds: 10, run: idempotency::run },
    Row { name: unique::ROW, seconds: 10, run: unique::run },
    Row { name: filter::ROW, seconds: 15, run: filter::run },
];

/// How much is measured.
#[derive(Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: Rounds,
    /// How often a thread reads in one round of a row on hits.
    pub(crate) reads: usize,
    /// How long a contestant is loaded in one round.
    pub(crate) span: Duration,
    /// How long the windows of a limiter are filled before they are weighed.
    pub(crate) fill: Duration,
    /// How often loads race with changes.
    pub(crate) races: usize,
}

impl Effort {
    pub(crate) fn full(rounds: u32) -> Self {
        Self {
            rounds: Rounds { most: rounds, within: PATIENCE },
            reads: 500_000,
            span: Duration::from_millis(250),
            fill: Duration::from_secs(22),
            races: 10_000,
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            rounds: Rounds::exactly(3),
            reads: 50_000,
            span: Duration::from_millis(30),
            fill: Duration::from_secs(1),
            races: 200,
        }
    }
}

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

use crate::table::Table;

/// One named measurement.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Effort) -> Result<Vec<Table>>,
}

/// All rows, in the order of the report.
pub(crate) const ALL: [Row; 14] = [
    Row { name: hit::ROW, run: hit::run },
    Row { name: metrics::ROW, run: metrics::run },
    Row { name: hit_redis::ROW, run: hit_redis::run },
    Row { name: memory::ROW, run: memory::run },
    Row { name: stampede::ROW, run: stampede::run },
    Row { name: processes::ROW, run: processes::run },
    Row { name: races::ROW, run: races::run },
    Row { name: outage::ROW, run: outage::run },
    Row { name: limiter::ROW, run: limiter::run },
    Row { name: lock::ROW, run: lock::run },
    Row { name: claim::ROW, run: claim::run },
    Row { name: idempotency::ROW, run: idempotency::run },
    Row { name: unique::ROW, run: unique::run },
    Row { name: filter::ROW, run: filter::run },
];

/// How much is measured.
#[derive(Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: u32,
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
            rounds,
            reads: 500_000,
            span: Duration::from_millis(250),
            fill: Duration::from_secs(22),
            races: 10_000,
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            rounds: 3,
            reads: 50_000,
            span: Duration::from_millis(30),
            fill: Duration::from_secs(1),
            races: 200,
        }
    }
}

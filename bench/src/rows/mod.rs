//! The rows: what is measured.

mod hit;
mod memory;
mod outage;
mod processes;
mod stampede;

use anyhow::Result;

use crate::table::Table;

/// One named measurement.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Effort) -> Result<Vec<Table>>,
}

/// All rows, in the order of the report.
pub(crate) const ALL: [Row; 5] = [
    Row { name: hit::ROW, run: hit::run },
    Row { name: memory::ROW, run: memory::run },
    Row { name: stampede::ROW, run: stampede::run },
    Row { name: processes::ROW, run: processes::run },
    Row { name: outage::ROW, run: outage::run },
];

/// How much is measured.
#[derive(Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: u32,
    /// How often a thread reads in one round of a row on hits.
    pub(crate) reads: usize,
}

impl Effort {
    pub(crate) fn full(rounds: u32) -> Self {
        Self { rounds, reads: 500_000 }
    }

    pub(crate) fn quick() -> Self {
        Self { rounds: 3, reads: 50_000 }
    }
}

//! One lock wanted by hundreds in several processes that are stopped, killed and cut off: what they saw, and whether
//! the promises of a lock allow it.
//!
//! | to see | read |
//! |---|---|
//! | who plays, and where | `arena` |
//! | what those do who want the lock | `callers` |
//! | what happens to their processes | `faults` |
//! | what is not allowed | `check` |

mod arena;
mod callers;
mod check;
mod faults;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

pub use self::arena::{Ground, play};
use crate::{
    hold::{Held, Hold, Outcome, Stint},
    moment::Moment,
};

/// The life of the lock: short, so that it is often lost.
pub const LIFE: Duration = Duration::from_millis(300);

/// How long Redis is waited for.
pub const BUDGET: Duration = Duration::from_millis(100);

/// Everything that happened.
#[derive(Debug, Clone, Default)]
pub struct Fire {
    /// Those who wanted the lock and lived to tell.
    pub callers: Vec<Caller>,
    /// When a process was stopped.
    pub stops: Vec<Stop>,
    /// The fences of all writes, in the order in which they landed.
    pub landed: Vec<u64>,
    /// The keys of the lock that were left behind.
    pub left: Vec<String>,
    /// What befell the processes, each with its number.
    pub faults: Vec<(usize, &'static str)>,
}

/// Somebody who wanted the lock.
#[derive(Debug, Clone)]
pub struct Caller {
    /// In which process.
    pub process: usize,
    /// What it was told to do.
    pub order: Hold,
    /// What came of it.
    pub held: Held,
}

impl Caller {
    fn stint(&self) -> Option<&Stint> {
        match &self.held.outcome {
            Outcome::Had(stint) => Some(stint),
            _ => None,
        }
    }
}

/// A time in which nothing of a process ran.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// The process.
    pub process: usize,
    /// No later than its begin.
    pub began: Moment,
    /// No sooner than its end.
    pub ended: Moment,
}

impl Fire {
    /// How often the lock was had.
    pub fn holdings(&self) -> usize {
        self.stints().count()
    }

    /// How many holders were told that they have lost it.
    pub fn losses(&self) -> usize {
        self.stints().filter(|stint| stint.lost).count()
    }

    fn stints(&self) -> impl Iterator<Item = &Stint> {
        self.callers.iter().filter_map(Caller::stint)
    }
}

/// A table: a line for each process.
impl fmt::Display for Fire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = ["process", "asked", "had", "lost", "busy", "no answer", "left", "writes"];
        writeln!(f, "{}  befallen by", columns.map(|name| format!("{name:>9}")).join(" "))?;
        let processes = self.callers.iter().map(|caller| caller.process + 1).max().unwrap_or(0);
        for process in 0..processes {
            let row = self.row(process).map(|count| format!("{count:>9}"));
            writeln!(f, "{process:>9} {}  {}", row.join(" "), self.fate(process))?;
        }
        write!(f, "{} holdings, {} told of their loss", self.holdings(), self.losses())
    }
}

impl Fire {
    fn row(&self, process: usize) -> [u64; 7] {
        let mut row = [0; 7];
        for caller in self.callers.iter().filter(|caller| caller.process == process) {
            row[0] += 1;
            let column = match &caller.held.outcome {
                Outcome::Had(_) => 1,
                Outcome::Busy => 3,
                Outcome::Unavailable => 4,
                Outcome::Left => 5,
            };
            row[column] += 1;
            if let Some(stint) = caller.stint() {
                row[2] += u64::from(stint.lost);
                row[6] += stint.writes;
            }
        }
        row
    }

    fn fate(&self, process: usize) -> String {
        let own = || self.faults.iter().filter(|(other, _)| *other == process).map(|(_, fault)| *fault);
        let mut kinds: Vec<&str> = own().collect();
        kinds.sort_unstable();
        kinds.dedup();
        let counted = kinds.iter().map(|kind| format!("{kind} {}", own().filter(|own| own == kind).count()));
        counted.collect::<Vec<_>>().join(", ")
    }
}

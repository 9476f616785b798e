//! What happened in several processes, and whether the promises allow it.
//!
//! Versions of a row only grow, so that a read is too old where it shows less than a change that had to be seen.

mod check;
#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use crate::{
    moment::Moment,
    order::{Call, Load},
};

/// Everything that happened.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The calls of all processes.
    pub steps: Vec<Step>,
    /// The loads of all processes, each with its process.
    pub loads: Vec<(usize, Load)>,
    /// When a process could not ask Redis.
    pub outages: Vec<Outage>,
    /// The limits of each process.
    pub processes: Vec<Process>,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// For how long, at most, it serves what another process has invalidated.
    pub bound: Duration,
    /// How long it waits for an answer of Redis.
    pub budget: Duration,
}

/// One call of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The process.
    pub process: usize,
    /// The id.
    pub id: String,
    /// What was called.
    pub act: Act,
    /// When, and what came of it.
    pub call: Call,
}

/// What a step calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// `get_or_load`.
    Load,
    /// `get`.
    Read,
    /// `invalidate`, after the row had got this version; or `put` of this version, while nothing else changed the id.
    Change(u64),
    /// `expire`.
    Expire,
}

/// A time in which a process could not ask Redis.
#[derive(Debug, Clone, Copy)]
pub struct Outage {
    /// The process.
    pub process: usize,
    /// No later than its begin.
    pub began: Moment,
    /// No sooner than its end.
    pub ended: Moment,
}

/// What no promise allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A call showed less than a change that it had to see.
    TooOld {
        /// The call.
        read: Step,
        /// The change.
        change: Step,
    },
    /// Two loads of one id ran at the same time, and nothing had overtaken the first.
    TwoLoads {
        /// The process and the load that began first.
        first: (usize, Load),
        /// The process and the load that began while the first ran.
        second: (usize, Load),
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld { read, change } => {
                let late = read.call.began.since(change.call.ended);
                write!(f, "begun {late:?} after {change:?} had returned: {read:?}")
            }
            Self::TwoLoads { first, second } => write!(f, "at the same time: {first:?} and {second:?}"),
        }
    }
}

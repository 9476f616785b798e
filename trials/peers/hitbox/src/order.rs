//! What the process is told and what it answers, each one JSON on a line: as much of it as chaos asks for.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub(crate) struct Setup {
    pub(crate) redis: String,
    pub(crate) budget_ms: u64,
    pub(crate) fresh_ms: u64,
    /// 0 for none in process memory.
    pub(crate) local_ms: Option<u64>,
    /// The port of this machine where the rows are served.
    pub(crate) rows: u16,
}

/// What goes over a pipe: the number of an order with it or with its answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Numbered<T> {
    pub(crate) number: u64,
    pub(crate) what: T,
}

#[derive(Debug, Deserialize)]
pub(crate) enum Order {
    Load { id: String, callers: usize, origin: Origin },
    LoadMany(Vec<String>),
    Read(String),
    Put(String, u64),
    Invalidate(String),
    InvalidateAmidLoads { id: String, callers: usize, origin: Origin },
    Expire(String),
    InvalidateTag(#[expect(dead_code, reason = "hitbox knows no tags")] String, Vec<String>),
    Clear(Vec<String>),
    Raise(String),
    Loads,
    Report,
}

/// What a loader does.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) enum Origin {
    /// It sleeps, then fails.
    Failure { ms: u64 },
    /// It reads the row, then sleeps.
    Row { ms: u64 },
}

#[derive(Debug, Serialize)]
pub(crate) enum Answer {
    Done(Vec<Call>),
    Raised(u64),
    Loads(Vec<Load>),
    Report(Report),
}

#[derive(Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) began: Moment,
    pub(crate) ended: Moment,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Serialize)]
pub(crate) enum Outcome {
    Value { version: u64, pid: u32 },
    Nothing,
    Failed,
    Error(String),
    Everywhere,
}

/// One run of a loader; without its end while it still runs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Load {
    pub(crate) id: String,
    pub(crate) began: Moment,
    pub(crate) ended: Option<Moment>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    usable: bool,
    hears: bool,
    bound_ms: u64,
    gaps: u64,
    deferred: usize,
    refused_fills: u64,
    tasks: usize,
}

impl Report {
    /// hitbox tells nothing of all that: it has to keep to the bound that the other subjects have.
    pub(crate) fn now() -> Self {
        let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        Self { usable: true, hears: true, bound_ms: 1_500, gaps: 0, deferred: 0, refused_fills: 0, tasks }
    }
}

/// An instant of the machine's monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Moment(u64);

impl Moment {
    pub(crate) fn now() -> Self {
        let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has this clock");
        let nanoseconds = Duration::from(time).as_nanos();
        Self(nanoseconds.try_into().expect("no machine runs for 500 years"))
    }
}

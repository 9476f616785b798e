//! What is written down while it happens. All moments are of one clock, whichever process took them.

use std::{sync::Arc, time::Duration};

use super::fault::Fault;
use crate::{
    moment::Moment,
    order::{Call, Load, Outcome},
};

/// Everything that happened.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// What was asked of the processes.
    pub steps: Vec<Step>,
    /// The loads, each with its process.
    pub loads: Vec<(usize, Load)>,
    /// The processes by their numbers: one that replaces another has a number of its own.
    pub processes: Vec<Process>,
    /// What went wrong, and how long.
    pub strikes: Vec<Strike>,
    /// Until when each seat felt it.
    pub windows: Vec<Window>,
    /// When a process had no change that was not confirmed: asked then, and said so.
    pub settled: Vec<(usize, Moment)>,
    /// When a thread of this machine could not run though it wanted to.
    pub starved: Vec<Span>,
    /// How often keys were looked for that would stay for ever.
    pub looks: usize,
    /// What was found where nothing should have been.
    pub left: Vec<Left>,
}

/// From one moment to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// No later than its begin.
    pub began: Moment,
    /// No sooner than its end.
    pub ended: Moment,
}

impl Span {
    /// Whether some of this lies between two moments.
    pub fn meets(&self, from: Moment, to: Moment) -> bool {
        self.began <= to && self.ended >= from
    }

    /// How much of this lies between two moments.
    pub fn within(&self, from: Moment, to: Moment) -> Duration {
        self.ended.min(to).since(self.began.max(from))
    }
}

/// A process, from its begin to its end.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// Whose place it has.
    pub seat: usize,
    /// For how long it may serve what another process has changed; nothing without memory.
    pub bound: Duration,
    /// The same of what is changed by something that ids have in common, of which every process remembers some.
    pub passing: Duration,
    /// When it was killed, if it was.
    pub died: Option<Moment>,
}

/// One thing that was asked of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The process.
    pub process: usize,
    /// The id.
    pub id: String,
    /// The others that were asked for by the same call.
    pub others: Arc<[String]>,
    /// Its name in the table.
    pub name: &'static str,
    /// What it means.
    pub act: Act,
    /// Before it was asked.
    pub asked: Moment,
    /// What came of it.
    pub end: End,
}

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// A value, loaded if need be.
    Load,
    /// The same, but the load fails.
    LoadInVain,
    /// What is there.
    Read,
    /// To forget what is older than this version of the row, which is stored by now.
    Change(u64),
    /// The same by something that the id has in common with others.
    Pass(u64),
    /// To take what is there for stale.
    Expire,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It was answered.
    Told(Call),
    /// The process was killed before.
    Died(Moment),
    /// Nobody waited any longer.
    Hung(Moment),
}

impl Step {
    /// The call, if it was answered.
    pub fn call(&self) -> Option<&Call> {
        match &self.end {
            End::Told(call) => Some(call),
            End::Died(_) | End::Hung(_) => None,
        }
    }

    /// The version that it showed, if it showed one.
    pub fn shown(&self) -> Option<u64> {
        match self.call()?.outcome {
            Outcome::Value { version, .. } => Some(version),
            _ => None,
        }
    }

    /// From when to when it was on its way.
    pub fn span(&self) -> Span {
        match &self.end {
            End::Told(call) => Span { began: call.began, ended: call.ended },
            End::Died(ended) | End::Hung(ended) => Span { began: self.asked, ended: *ended },
        }
    }

    /// Whether it changes what others may store.
    pub fn overtakes(&self) -> bool {
        matches!(self.act, Act::Change(_) | Act::Expire)
    }
}

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strike {
    /// Its kind.
    pub fault: Fault,
    /// Whom it befell; nobody's own if it befell the servers.
    pub seat: Option<usize>,
    /// From its begin until it was mended.
    pub span: Span,
}

/// How long one seat felt a fault: until its process was seen to be well again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The kind of the fault.
    pub fault: Fault,
    /// The seat.
    pub seat: usize,
    /// The only ids that are hidden, if not all.
    pub ids: Option<Vec<String>>,
    /// From the fault's begin until the process was well.
    pub span: Span,
    /// When the fault was mended.
    pub mended: Moment,
}

/// Something that is still there, or did not come, in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// A key that would stay for ever.
    ForEver(String),
    /// A process that was not well again, and how it was.
    Unwell(String),
    /// Tasks of a process that had nothing to do.
    Tasks(String),
    /// A process that did not end in time, or not well.
    Running(String),
}

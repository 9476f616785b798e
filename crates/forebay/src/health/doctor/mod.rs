//! Examines a set-up: everything that can be wrong with it, in the order in which one would mend it.

mod ailment;
mod connection;
mod exam;
mod expiry;
mod messages;
mod rights;
mod scripts;
mod sentinels;
mod server;
mod target;

use std::fmt;

use self::exam::Exam;
use super::Home;

/// What was found, in the order of [`Check::ALL`]; nothing of the memory store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Diagnosis {
    /// One for each check.
    pub findings: Vec<Finding>,
}

/// What one check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What was looked at.
    pub check: Check,
    /// What was seen, in few words; no credentials.
    pub value: String,
    /// Whether that is as it should be.
    pub verdict: Verdict,
}

/// Whether something is as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Well,
    /// It works, but is not as good as it could be.
    Warning {
        /// What to do.
        remedy: String,
    },
    /// Forebay does not work as promised.
    Fault {
        /// What to do.
        remedy: String,
    },
    /// It was not looked at.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// Something to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// Whether anything answers.
    Reachable,
    /// Whether user and password are taken.
    Credentials,
    /// Whether it is the database that has the keys.
    Database,
    /// Whether it is a primary, which takes writes.
    Primary,
    /// Whether the server is new enough.
    Version,
    /// Whether every slot of a cluster has a node.
    Slots,
    /// Whether it answers within the budget.
    RoundTrip,
    /// Whether the user may give the commands that Forebay gives.
    Rights,
    /// Whether scripts run.
    Scripts,
    /// Whether a published message comes back.
    Messages,
    /// Whether the server tells of writes.
    Tracking,
    /// Whether memory has a limit, and room below it.
    MaxMemory,
    /// What happens at the limit of memory.
    Eviction,
    /// Whether there is room for further connections.
    Connections,
    /// Whether the clock is right.
    Clock,
    /// Whether every key has an expiry.
    Expiry,
    /// Whether replicas are as they have to be.
    Replication,
    /// What is left after a restart.
    Persistence,
}

impl Check {
    /// All of them, in their order.
    pub const ALL: [Self; 18] = [
        Self::Reachable,
        Self::Credentials,
        Self::Database,
        Self::Primary,
        Self::Version,
        Self::Slots,
        Self::RoundTrip,
        Self::Rights,
        Self::Scripts,
        Self::Messages,
        Self::Tracking,
        Self::MaxMemory,
        Self::Eviction,
        Self::Connections,
        Self::Clock,
        Self::Expiry,
        Self::Replication,
        Self::Persistence,
    ];

    /// Its name, which stays the same.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reachable => "reachable",
            Self::Credentials => "credentials",
            Self::Database => "database",
            Self::Primary => "primary",
            Self::Version => "version",
            Self::Slots => "slots",
            Self::RoundTrip => "round-trip",
            Self::Rights => "rights",
            Self::Scripts => "scripts",
            Self::Messages => "messages",
            Self::Tracking => "tracking",
            Self::MaxMemory => "maxmemory",
            Self::Eviction => "eviction",
            Self::Connections => "connections",
            Self::Clock => "clock",
            Self::Expiry => "expiry",
            Self::Replication => "replication",
            Self::Persistence => "persistence",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Finding {
    fn new(check: Check, value: impl Into<String>, verdict: Verdict) -> Self {
        Self { check, value: value.into(), verdict }
    }

    /// Whether it is a fault.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self.verdict, Verdict::Fault { .. })
    }
}

impl Verdict {
    fn warning(remedy: impl Into<String>) -> Self {
        Self::Warning { remedy: remedy.into() }
    }

    fn fault(remedy: impl Into<String>) -> Self {
        Self::Fault { remedy: remedy.into() }
    }

    fn skipped(reason: impl Into<String>) -> Self {
        Self::Skipped { reason: reason.into() }
    }
}

impl Home {
    pub(crate) async fn diagnose(&self) -> Diagnosis {
        let Some((remote, _)) = &self.0.remote else { return Diagnosis::default() };
        let mut exam = Exam::begin(self, &remote.redis).await;
        let mut findings = Vec::new();
        for check in Check::ALL {
            let (value, verdict) = match exam.obstacle(check) {
                Some(reason) => (String::new(), Verdict::skipped(reason)),
                None => exam.heard(check).await,
            };
            exam.note(check, &verdict);
            findings.push(Finding::new(check, value, verdict));
        }
        Diagnosis { findings }
    }
}

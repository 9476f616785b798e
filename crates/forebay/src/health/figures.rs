//! What a server tells of itself, as figures.

use std::time::Duration;

/// What one Redis or Valkey server tells of itself. What it does not tell is `None`: older servers know less.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Figures {
    /// `redis`, or `valkey`.
    pub software: String,
    /// Its version, such as `7.4.1`.
    pub version: String,
    /// `standalone`, `cluster` or `sentinel`.
    pub mode: Option<String>,
    /// What names this run of the server, another one after each restart.
    pub run_id: Option<String>,
    /// For how long it has been running.
    pub uptime: Option<Duration>,
    /// Its memory.
    pub memory: Memory,
    /// Who is connected.
    pub clients: Clients,
    /// What it has done since it was started.
    pub traffic: Traffic,
    /// How it keeps data beyond its end.
    pub persistence: Persistence,
    /// Who copies from whom.
    pub replication: Replication,
    /// How many keys its databases have, by number.
    pub databases: Vec<Database>,
    /// How far its clock is from the one of this machine.
    pub clock: Option<ClockDifference>,
}

/// The memory of a server, in bytes.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Memory {
    /// What is in use.
    pub used: Option<u64>,
    /// The most that ever was.
    pub peak: Option<u64>,
    /// What the operating system has given to it.
    pub resident: Option<u64>,
    /// What it may use; 0 is no limit.
    pub limit: Option<u64>,
    /// What the machine has.
    pub machine: Option<u64>,
    /// How many bytes are resident for each in use.
    pub fragmentation: Option<f64>,
    /// What it does at its limit, such as `noeviction`.
    pub policy: Option<String>,
}

/// Who is connected to a server.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Clients {
    /// How many there are.
    pub connected: Option<u64>,
    /// How many there may be.
    pub limit: Option<u64>,
    /// How many wait for something.
    pub blocked: Option<u64>,
}

/// What a server has done since it was started, for whomever.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Reads of keys that were there.
    pub hits: Option<u64>,
    /// Reads of keys that were not.
    pub misses: Option<u64>,
    /// Commands.
    pub commands: Option<u64>,
    /// Commands in a second, lately.
    pub commands_per_second: Option<u64>,
    /// Keys whose life has ended.
    pub expired: Option<u64>,
    /// Keys that had to make room.
    pub evicted: Option<u64>,
    /// Connections that were refused, as there were too many.
    pub rejected: Option<u64>,
}

/// How a server keeps data beyond its end.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Persistence {
    /// Whether it is reading its data, and so answers nothing.
    pub loading: Option<bool>,
    /// Whether it writes a log of all changes.
    pub append_only: Option<bool>,
    /// Whether the last write to the log succeeded.
    pub append_ok: Option<bool>,
    /// Whether the last snapshot succeeded.
    pub snapshot_ok: Option<bool>,
    /// How many changes no snapshot has.
    pub unsaved: Option<u64>,
}

/// Who copies from whom.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Replication {
    /// Whether it is a replica, which takes no writes.
    pub is_replica: Option<bool>,
    /// How many replicas it has.
    pub replicas: Option<u64>,
    /// Whether a replica hears its primary.
    pub linked: Option<bool>,
    /// How many replicas are as close behind as is asked for.
    pub good_replicas: Option<u64>,
}

/// One database of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Database {
    /// Its number.
    pub number: u32,
    /// How many keys it has.
    pub keys: u64,
    /// How many of them have a life that ends.
    pub expiring: u64,
}

/// How far the clock of a server is from that of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockDifference {
    /// By how much they differ.
    pub by: Duration,
    /// Whether the server's is ahead.
    pub ahead: bool,
    /// By how much that may be wrong: half a round trip.
    pub error: Duration,
}

impl ClockDifference {
    /// From the time of the server, and that of this machine in the middle of a round trip, both since 1970.
    pub(super) fn between(server: Duration, here: Duration, round_trip: Duration) -> Self {
        Self { by: server.abs_diff(here), ahead: server > here, error: round_trip / 2 }
    }
}

impl Memory {
    /// How much of its limit is in use, in percent; nothing without a limit.
    #[must_use]
    pub fn percent_used(&self) -> Option<f64> {
        percent(self.used?, self.limit.filter(|limit| *limit > 0)?)
    }
}

impl Clients {
    /// How many of those that there may be are connected, in percent.
    #[must_use]
    pub fn percent_used(&self) -> Option<f64> {
        percent(self.connected?, self.limit?)
    }
}

/// A part of a whole; nothing of nothing.
#[expect(clippy::cast_precision_loss, reason = "a percentage needs no 53 bits")]
pub(super) fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

//! What a worker is told and what it answers, each one JSON on a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    hold::{Held, Hold, Lapped, Laps},
    moment::Moment,
};

/// Whose cache a worker has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// Forebay's.
    #[default]
    Forebay,
    /// What is often written by hand: get, load, set, and delete at a change; in front of it a map for a second.
    Naive,
    /// The same behind moka, which loads once in a process.
    Moka,
    /// Python's cashews, with its locks and its copies in each process.
    Cashews,
    /// Node's bentocache, with two levels and a bus.
    Bentocache,
    /// Rust's hitbox, with two levels and one load in a process.
    Hitbox,
}

/// How a worker opens its one cache, and its Forebay if it has one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Setup {
    /// Whose cache it is.
    #[serde(default)]
    pub subject: Subject,
    /// The URL of Redis.
    pub redis: String,
    /// The budget of a read, if not the default.
    pub budget_ms: Option<u64>,
    /// The lease, if not the default.
    pub lease_ms: Option<u64>,
    /// How long a load may take, if not as long as by default.
    #[serde(default)]
    pub load_timeout_ms: Option<u64>,
    /// How long somebody else's load is waited for, if not for as long as a load may take.
    #[serde(default)]
    pub wait_ms: Option<u64>,
    /// For how long values are kept as stale.
    pub stale_ms: u64,
    /// For how long values stay in process memory, if not the default.
    pub local_ms: Option<u64>,
    /// For how long values are fresh, if not an hour.
    pub fresh_ms: Option<u64>,
    /// What is done about values that are stale or will be soon, if anything.
    pub refresh: Option<Refreshing>,
    /// The size above which a value is not stored, if not the default.
    pub max_bytes: Option<usize>,
    /// Whether values have the tag of their id, if it has one: see [`tag_of`].
    #[serde(default)]
    pub tags: bool,
    /// The SQLite file that has the rows.
    pub database: Option<PathBuf>,
    /// The port of this machine where [`rows`](crate::rows::serve) are served, for programs that cannot open them.
    #[serde(default)]
    pub rows: Option<u16>,
    /// The SQLite file that is written under locks.
    pub ledger: Option<PathBuf>,
}

/// A policy of the library, without its default.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Refreshing {
    /// Stale values are refreshed.
    Stale,
    /// Values are refreshed early, by chance, with this beta.
    Early(f64),
    /// Values are refreshed once this share of their life is left.
    Ahead(f64),
}

/// What a worker is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// So many callers ask for a value, each with a loader.
    Load {
        /// What they ask for.
        id: String,
        /// How many there are.
        callers: usize,
        /// What the loader does.
        origin: Origin,
    },
    /// One caller after the other asks for a value, each with a loader and none waiting for those before it.
    Steadily {
        /// What they ask for.
        id: String,
        /// How many there are.
        callers: u32,
        /// How long after each other they come.
        every_ms: u64,
        /// What the loader does.
        origin: Origin,
    },
    /// Several values are asked for at once, with a loader that loads all that it is asked for.
    LoadMany(Vec<String>),
    /// Reads without loading.
    Read(String),
    /// Stores a value of this version.
    Put(String, u64),
    /// Forgets the value.
    Invalidate(String),
    /// Forgets the value while so many callers ask for it: the first call is the change.
    InvalidateAmidLoads {
        /// What they ask for.
        id: String,
        /// How many there are.
        callers: usize,
        /// What the loader does.
        origin: Origin,
    },
    /// Makes the value stale.
    Expire(String),
    /// Forgets all values with a tag: a cache without tags those of these ids.
    InvalidateTag(String, Vec<String>),
    /// Forgets everything, which is these ids.
    Clear(Vec<String>),
    /// Gives the row a new version, without a word to the cache.
    Raise(String),
    /// Tells of the loads that began since the last time, and of those that still ran then.
    Loads,
    /// Takes a lock, and writes under it.
    Hold(Hold),
    /// Takes a free lock and frees it, again and again.
    Laps(Laps),
    /// Says how the worker is.
    Report,
}

/// The tag of every second id: so that some ids share one, and others have none.
pub fn tag_of(id: &str) -> Option<String> {
    let number: usize = id.rsplit('-').next()?.parse().ok()?;
    number.is_multiple_of(2).then(|| format!("tag-{}", number / 2 % TAGS))
}

/// How many tags there are.
pub const TAGS: usize = 4;

/// What a loader does.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Origin {
    /// It sleeps, and answers how many loads this process has begun and so many bytes more.
    Counter {
        /// How long it sleeps.
        ms: u64,
        /// How many bytes the value has.
        bytes: usize,
    },
    /// It sleeps, then fails.
    Failure {
        /// How long it sleeps.
        ms: u64,
    },
    /// It reads the row, then sleeps: what it answers may be old by then.
    Row {
        /// How long it sleeps.
        ms: u64,
    },
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// What became of each call.
    Done(Vec<Call>),
    /// The new version of a row.
    Raised(u64),
    /// The loads.
    Loads(Vec<Load>),
    /// What became of whoever wanted a lock.
    Held(Held),
    /// What became of whoever took it again and again.
    Lapped(Lapped),
    /// How the worker is.
    Report(Box<Report>),
}

/// One call of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Before it.
    pub began: Moment,
    /// After it.
    pub ended: Moment,
    /// What it answered.
    pub outcome: Outcome,
}

/// What a call answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A value of this version, loaded or put by this process.
    Value {
        /// The version.
        version: u64,
        /// The process.
        pid: u32,
    },
    /// Nothing was there.
    Nothing,
    /// The loader's own error.
    Failed,
    /// The error of somebody else's loader.
    FailedElsewhere,
    /// Another error.
    Error(String),
    /// The change is done everywhere.
    Everywhere,
    /// The change is not confirmed.
    Deferred,
}

/// One run of a loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// What it loaded.
    pub id: String,
    /// Before it.
    pub began: Moment,
    /// After it, unless it still runs.
    pub ended: Option<Moment>,
}

/// How a worker is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether Redis can be asked.
    pub usable: bool,
    /// Whether the others are heard.
    pub hears: bool,
    /// The exported bound of staleness.
    pub bound_ms: u64,
    /// How often messages may have been missed.
    pub gaps: u64,
    /// Changes that are not confirmed.
    pub deferred: usize,
    /// Fills that were refused.
    pub refused_fills: u64,
    /// The tasks of the runtime.
    pub tasks: usize,
}

/// What goes over a pipe: the number of an order with it or with its answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct Numbered<T> {
    /// The number; 0 is the report that a worker makes once it is ready.
    pub number: u64,
    /// The order or the answer.
    pub what: T,
}

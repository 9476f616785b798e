//! What a worker is told to do with a lock, and what came of it.

use serde::{Deserialize, Serialize};

use crate::moment::Moment;

/// One caller who wants a lock, and writes with its fence while it has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hold {
    /// The lock.
    pub name: String,
    /// How it is asked for.
    pub manner: Manner,
    /// For how long a holder keeps others out that cannot renew it.
    pub life_ms: u64,
    /// How long it is waited for.
    pub wait_ms: u64,
    /// For how long it is held.
    pub work_ms: u64,
    /// After how many polls the caller goes away, if it does.
    pub polls: Option<usize>,
}

/// How a caller asks for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// It has work done under the lock.
    Run,
    /// It waits for the guard.
    Guard,
    /// It tries again and again, and waits for nothing.
    Impatient,
}

/// What became of one caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Before it asked.
    pub asked: Moment,
    /// After it was told whether it has the lock, or went away.
    pub told: Moment,
    /// Whether it had it.
    pub outcome: Outcome,
}

/// What a caller was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It had the lock.
    Had(Stint),
    /// Somebody else did.
    Busy,
    /// Nobody could be asked.
    Unavailable,
    /// It went away before it was told anything.
    Left,
}

/// One holding, from the inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stint {
    /// The fence.
    pub fence: u64,
    /// Once the lock was had.
    pub began: Moment,
    /// Before it was let go of, or as soon as the holder was told that it is lost.
    pub ended: Moment,
    /// Whether the holder was told so.
    pub lost: bool,
    /// How many writes have landed.
    pub writes: u64,
    /// How many were refused as another holder had written, while the lock was said to be held.
    pub refused: u64,
    /// Whether the lock was said to be held again after it was lost.
    pub revived: bool,
    /// How often the work went on although the lock was lost.
    pub late_polls: u64,
}

/// One caller who takes a free lock and frees it, again and again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Laps {
    /// The lock.
    pub name: String,
    /// For how long a holder keeps others out that cannot renew it.
    pub life_ms: u64,
    /// How often, and now and then for so long that it is renewed.
    pub times: u64,
}

/// What became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lapped {
    /// How often the lock was had.
    pub had: u64,
    /// How often Redis could not be asked, or answered when the lock's life was as good as over.
    pub vain: u64,
    /// How often a fence was not above the one before.
    pub disorder: u64,
}

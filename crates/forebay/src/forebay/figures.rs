//! What a `Forebay` knows of itself at one moment, in numbers.

use super::{Forebay, Store};
use crate::{cache, status::Status};

/// The figures of one `Forebay` in this process; made by [`Forebay::figures`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Figures {
    /// What was counted in each space, in the order of their names. Counts never fall.
    pub spaces: Vec<SpaceFigures>,
    /// What process memory holds.
    pub memory: MemoryFigures,
    /// How many locks are held by a guard of this process.
    pub locks_held: usize,
    /// How many callers wait for a lock in this process.
    pub locks_waiting: usize,
    /// How it stands with its store.
    pub status: Status,
}

/// What was counted in one space.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceFigures {
    /// The name of the space.
    pub space: String,
    /// What its cache has done.
    pub stats: cache::Stats,
}

/// What process memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryFigures {
    /// Values that are kept, and on the memory store what is stored there too.
    pub entries: u64,
    /// How much of the budget is used, in bytes; running loads have a part in it.
    pub bytes: u64,
    /// The budget, in bytes.
    pub limit_bytes: u64,
}

impl Forebay {
    /// What there is to tell in numbers, of this process alone: nothing is asked.
    pub fn figures(&self) -> Figures {
        let spaces = match &self.store {
            Store::Local(local) => local.spaces.figures(),
            Store::Remote(remote) => remote.spaces.figures(),
        };
        let (memory, locks) = (&self.shared().memory, &self.homes().locks);
        Figures {
            spaces,
            memory: MemoryFigures {
                entries: memory.entries(),
                bytes: memory.weight(),
                limit_bytes: memory.budget(),
            },
            locks_held: locks.held(),
            locks_waiting: locks.waiting(),
            status: self.status(),
        }
    }
}

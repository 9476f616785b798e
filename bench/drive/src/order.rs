//! What is asked, and what is answered: a line of JSON each where it goes over a pipe.

use serde::{Deserialize, Serialize};

/// Something to be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Answered by [`Rate`].
    Fill(Fill),
    /// Answered by [`Rate`].
    Hits(Hits),
    /// Answered by [`Rush`].
    Stampede(Stampede),
    /// Answered by [`Lateness`].
    Races(Races),
    /// Answered by [`Cost`].
    Miss(Miss),
}

/// Reads what is in process memory. Answered by the nanoseconds of one read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Reads {
    /// So many threads at once.
    pub threads: u64,
    /// So many reads of each.
    pub reads: usize,
}

/// Loads all keys that are going to be read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Fill {
    /// How many there are.
    pub keys: usize,
    /// How long the text of each article is.
    pub bytes: usize,
}

/// Reads what is there.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Hits {
    /// So many tasks do so, one read each at a time.
    pub tasks: usize,
    /// So many reads, all tasks together.
    pub count: usize,
    /// So many keys, one after the other, but none beside the one before.
    pub keys: usize,
    /// As they were filled.
    pub bytes: usize,
}

/// How fast it went.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Rate {
    /// Reads a second.
    pub per_second: f64,
    /// Reads that failed, and loads.
    pub wrong: u64,
}

/// Callers that ask for one key at once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stampede {
    /// What nobody has.
    pub key: String,
    /// So many callers.
    pub callers: usize,
    /// How long a load takes.
    pub milliseconds: u64,
}

/// What came of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rush {
    /// How often the origin was asked.
    pub loads: u64,
    /// Callers without an answer.
    pub errors: u64,
    /// How many milliseconds each caller waited who has an answer.
    pub waits: Vec<f64>,
}

/// Reads that load the old version while a writer changes it and tells the cache: each of a key of its own.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Races {
    /// The number of the first key.
    pub first: usize,
    /// So many.
    pub count: usize,
}

/// What the next reads brought.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// The old version.
    pub stale: u64,
    /// Races in which a read or a change failed.
    pub errors: u64,
}

/// One read of a key that nobody has, whose load takes no time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Miss {
    /// The key.
    pub key: String,
}

/// What that read cost.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Cost {
    /// How long it took, at most as long as is waited for it.
    pub milliseconds: f64,
    /// Whether there was an answer.
    pub answered: bool,
}

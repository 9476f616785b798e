//! What those are told who ask to run something once.

use std::time::Duration;

use super::{execution::Execution, record::Record};

/// How it stands with what is to run once.
#[derive(Debug)]
#[must_use = "only whoever is told to run may"]
pub enum Begun {
    /// The caller runs it, and completes this.
    Run(Execution),
    /// It was run, and this is what it brought.
    Done(Record),
    /// Somebody runs it.
    Running {
        /// Until nothing more is heard of whoever does, at the latest. At least 1 ms.
        retry_after: Duration,
    },
    /// The name was used before, for something with another fingerprint.
    Mismatch,
    /// It was begun, and nobody knows whether it was done.
    Indeterminate,
}

/// What became of the end of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the record may not have been kept"]
pub enum Completed {
    /// The record is kept, and handed out from now on.
    Stored,
    /// It is kept that it was done; the record is too large.
    WithoutRecord,
    /// The record is not kept: it was completed before, with another one, which stays.
    Conflict,
    /// The record is not kept: somebody else has run it since, or its time is over.
    Lost,
}

/// What [`Idempotency::run`](super::Idempotency::run) comes to.
#[derive(Debug)]
#[must_use = "it may not have run"]
pub enum Ran<E> {
    /// It was run, now or before.
    Done {
        /// What it brought.
        record: Record,
        /// Whether it was run before.
        replayed: bool,
    },
    /// It was run now, and has failed.
    Failed(E),
    /// Somebody runs it.
    Running {
        /// Until nothing more is heard of whoever does, at the latest. At least 1 ms.
        retry_after: Duration,
    },
    /// The name was used before, for something with another fingerprint.
    Mismatch,
    /// It was begun, and nobody knows whether it was done.
    Indeterminate,
}

/// Why work that is to run once has brought nothing. An error becomes one by `?`, as [`Failure::Unknown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure<E> {
    /// Nothing was done: whoever asks next runs it.
    Undone(E),
    /// Something may have been done: it is indeterminate.
    Unknown(E),
}

impl<E> From<E> for Failure<E> {
    fn from(error: E) -> Self {
        Self::Unknown(error)
    }
}

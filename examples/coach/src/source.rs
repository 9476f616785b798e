//! Where an answer came from.

use forebay::cache::{self, Entry};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// The memory of this process.
    Memory,
    /// Redis, where another process has put it.
    Store,
    /// The model, which this request has asked.
    Model,
    /// The model, which another request had asked already.
    Shared,
    /// The cache, although its time is over, as the model failed or took too long.
    Stale,
}

impl Source {
    /// What `Cache-Status` (RFC 9211) says of it.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Memory => "coach; hit; detail=memory",
            Self::Store => "coach; hit; detail=store",
            Self::Model => "coach; fwd=miss",
            Self::Shared => "coach; fwd=miss; collapsed",
            Self::Stale => "coach; hit; ttl=0; detail=stale",
        }
    }

    pub(crate) fn of<V>(entry: &Entry<V>) -> Self {
        match entry.source {
            _ if entry.is_stale() => Self::Stale,
            cache::Source::Memory => Self::Memory,
            cache::Source::Store => Self::Store,
            cache::Source::Coalesced => Self::Shared,
            _ => Self::Model,
        }
    }
}

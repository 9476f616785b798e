//! What a filter answers.

use std::time::Duration;

use super::shape::Shape;

/// Whether an id can exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub enum Answer {
    /// It was never added.
    No,
    /// It was added, or happens to look as if it had been, or the filter cannot tell at present.
    Maybe,
}

impl Answer {
    /// Whether the id was never added.
    #[must_use]
    pub fn is_no(self) -> bool {
        self == Self::No
    }
}

/// What became of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Rebuilt {
    /// The filter has exactly the ids that were brought, and those that were added meanwhile.
    Complete,
    /// Nothing was done: another rebuild of this filter is under way, here or in another process.
    Running {
        /// When that one will have ended if its process has died.
        retry_after: Duration,
    },
}

/// How a filter stands.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// Whether it can answer [`Answer::No`]: it was built, and nothing was lost since. If not, it is time to rebuild it.
    pub complete: bool,
    /// Whether a rebuild is under way.
    pub rebuilding: bool,
    /// The size of its bitmap in bytes; twice as much while it is rebuilt.
    pub bytes: u64,
    /// About how many ids it has.
    pub ids: u64,
    /// Which share of the ids that were never added it answers [`Answer::Maybe`] to, with the ids that it has.
    pub rate: f64,
}

impl Figures {
    /// Those of a filter that was never built.
    pub(super) fn none() -> Self {
        Self { complete: false, rebuilding: false, bytes: 0, ids: 0, rate: 1.0 }
    }

    /// Those of a bitmap in use, a `share` of whose bits is set.
    pub(super) fn of(shape: Shape, share: f64) -> Self {
        let (bytes, ids, rate) = (shape.bytes(), shape.ids(share), shape.rate(share));
        Self { complete: true, rebuilding: false, bytes, ids, rate }
    }
}

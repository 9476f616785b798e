//! The cases, by what they are about.

pub(crate) mod abandonment;
pub(crate) mod absence;
pub(crate) mod adaptive;
pub(crate) mod again;
pub(crate) mod batches;
pub(crate) mod changes;
pub(crate) mod coalescing;
pub(crate) mod early;
pub(crate) mod entries;
pub(crate) mod failures;
pub(crate) mod filter;
pub(crate) mod fresh;
pub(crate) mod ids;
pub(crate) mod inspect;
pub(crate) mod leases;
pub(crate) mod limiter;
pub(crate) mod limits;
pub(crate) mod lives;
pub(crate) mod lock;
pub(crate) mod lost;
pub(crate) mod matching;
pub(crate) mod once;
pub(crate) mod permits;
pub(crate) mod recursion;
pub(crate) mod shutdown;
pub(crate) mod stale;
mod stamp;
pub(crate) mod tags;
pub(crate) mod topics;
pub(crate) mod unique;
pub(crate) mod warm;

pub(crate) use stamp::stamp;

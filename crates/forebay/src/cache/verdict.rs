//! What a flight can tell its callers: how it ends, and what that is to each of them.

use super::{
    entry::{Entry, Source},
    error::Failure,
    flights::Arrival,
    grant::Grant,
};

/// A value, or the knowledge that there is none.
#[derive(Debug)]
pub(crate) enum Answer<V> {
    Present(Entry<V>),
    Absent,
}

/// How a flight ends.
#[derive(Debug)]
pub(crate) enum Outcome<V> {
    /// With what a read, sent at `sent`, found; `waited` when it was for somebody's load.
    Read { answer: Answer<V>, sent: Arrival, waited: bool },
    /// With what the filter said, asked at `sent`: there is no such id.
    Filtered { sent: Arrival },
    /// With what was loaded. If the store accepted it, it also serves those who came after the load began,
    /// but before the store was asked: `accepted` is when that was.
    Loaded { accepted: Option<Arrival> },
    /// With a failure.
    Failed(Failure),
    /// With the lease in the hands of one caller, who loads outside.
    Leased(Option<Grant>),
    /// With the knowledge that for a while every caller loads for itself.
    Unshared,
    /// With nothing for anybody.
    Nothing,
}

/// What a caller makes of the state of a flight.
#[derive(Debug)]
pub(crate) enum Verdict<V> {
    /// It is too early to tell.
    Pending,
    /// This answers the caller.
    Served(Answer<V>),
    /// There is no such id.
    Filtered,
    /// The lease is the caller's.
    Leased(Grant),
    /// The caller loads for itself.
    Unshared,
    /// There is no answer.
    Failed(Failure),
    /// The store may have a stale value for the caller, who waits no longer.
    Look,
    /// The wait of the caller is over.
    Busy,
    /// This flight does not serve the caller; the next one may.
    Next,
}

/// How a caller sits in a flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    /// When the caller came: what was read or begun later may serve it.
    pub(crate) arrived: Arrival,
    /// Whether nothing out of a level may serve it.
    pub(crate) fresh: bool,
    /// Whether an absence is an answer to it.
    pub(crate) takes_absence: bool,
    /// Whether it takes the lease rather than have the value loaded.
    pub(crate) takes_lease: bool,
    /// Whether the flight runs this caller's loader.
    pub(crate) leads: bool,
}

/// What a caller no longer waits for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// It takes a stale value now.
    pub(crate) takes_stale: bool,
    /// It does not wait for somebody else's load now.
    pub(crate) over: bool,
    /// It has looked into the store for a stale value by itself.
    pub(crate) looked: bool,
}

impl<V> Answer<V> {
    /// The loaded answer, as the caller in `seat` sees it.
    pub(super) fn by(&self, seat: Seat) -> Self {
        self.from(if seat.leads { Source::Loaded } else { Source::Coalesced })
    }

    pub(super) fn from(&self, source: Source) -> Self {
        match self.clone() {
            Self::Present(entry) => Self::Present(Entry { source, ..entry }),
            Self::Absent => Self::Absent,
        }
    }
}

impl<V> Clone for Answer<V> {
    fn clone(&self) -> Self {
        match self {
            Self::Present(entry) => Self::Present(entry.clone()),
            Self::Absent => Self::Absent,
        }
    }
}

//! What happens, in one vocabulary: primitives record events, observers turn them into figures.

use std::{fmt, time::Duration};

/// Something that happened. Ids and values are never part of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A read of a cache was answered. Hits in process memory are counted in `Cache::stats` alone.
    Read {
        /// The space of the cache.
        space: &'a str,
        /// What the caller got.
        outcome: ReadOutcome,
    },
    /// A loader ran.
    Load {
        /// The space of the cache.
        space: &'a str,
        /// How it ended.
        outcome: LoadOutcome,
        /// How long it took.
        took: Duration,
    },
    /// A loaded value was offered to the store.
    Fill {
        /// The space of the cache.
        space: &'a str,
        /// What became of it.
        outcome: FillOutcome,
    },
    /// An id was invalidated, expired or explicitly put, or a tag or the whole space was invalidated.
    Changed {
        /// The space of the cache.
        space: &'a str,
    },
    /// A stored entry could not be read, and so is a miss.
    Unreadable {
        /// The space of the cache.
        space: &'a str,
        /// Why.
        reason: &'static str,
    },
    /// A caller stopped waiting before it had its answer.
    WaiterCancelled {
        /// The space of the cache.
        space: &'a str,
    },
    /// An origin breaker began to refuse loads.
    BreakerOpened {
        /// The space of the cache.
        space: &'a str,
        /// How long it refuses.
        pause: Duration,
    },
    /// A limiter has decided about a call. What is given back later was allowed all the same.
    Checked {
        /// The name of the policy.
        policy: &'a str,
        /// The name of the tier that was applied.
        tier: &'a str,
        /// What the caller was told.
        outcome: CheckOutcome,
    },
    /// A lock was asked for, or was lost by its holder.
    Lock {
        /// What came of it.
        outcome: LockOutcome,
    },
    /// Visitors that were recorded have left this process.
    Visitors {
        /// The name of the counter.
        counter: &'a str,
        /// What became of them.
        outcome: VisitorsOutcome,
        /// How many they are.
        visitors: u64,
    },
    /// What was stored of a subject's counts could not be read, and so counted as nothing.
    UnreadableLimit {
        /// The name of the policy.
        policy: &'a str,
    },
    /// Somebody asked to run what is to run once.
    Begun {
        /// What the caller was told.
        outcome: BeginOutcome,
    },
    /// What ran once was offered to the store.
    Completed {
        /// What became of it.
        outcome: CompleteOutcome,
    },
    /// A filter was asked about an id.
    Sifted {
        /// The name of the filter.
        filter: &'a str,
        /// What it knows.
        outcome: FilterOutcome,
    },
    /// Something happened to messages of a topic.
    Topic {
        /// The name of the topic.
        topic: &'a str,
        /// What happened.
        outcome: TopicOutcome,
        /// To how many; 0 where that is not known.
        messages: u64,
    },
}

/// What happens to the messages of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicOutcome {
    /// The store has taken them.
    Published,
    /// A subscriber, or a consumer of a group, has been given them.
    Delivered,
    /// A consumer has done what they were for.
    Acknowledged,
    /// A consumer could not, and they are delivered again.
    Returned,
    /// They were delivered too often, and were put aside.
    DeadLettered,
    /// They were no longer kept when their group came to them.
    Lost,
    /// A subscriber may have missed them.
    Missed,
    /// They were not written by a topic.
    Unreadable,
}

/// How it stood with what is to run once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginOutcome {
    /// The caller runs it.
    Run,
    /// Somebody else runs it.
    Running,
    /// It was done before.
    Done,
    /// The name was used for something else.
    Mismatch,
    /// Nobody knows whether it was done.
    Indeterminate,
    /// What is stored cannot be read, which counts as indeterminate.
    Unreadable,
    /// The store cannot be asked.
    Unavailable,
}

/// What became of the end of something that runs once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompleteOutcome {
    /// It is stored.
    Stored,
    /// It is stored that it was done; what it brought is too large.
    WithoutRecord,
    /// It was refused: another end was stored before.
    Conflict,
    /// It was refused: somebody else has run since.
    Lost,
    /// The store has not answered for ten minutes, or too much waits for it.
    Unconfirmed,
}

/// What a filter knows of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterOutcome {
    /// It was never added.
    No,
    /// It may have been added.
    Maybe,
    /// Nothing: the filter was not built, or something was lost since.
    Incomplete,
    /// Nothing: the store cannot be asked.
    Unavailable,
}

/// What a limiter has said to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Go on.
    Allowed,
    /// Come back later.
    Denied,
    /// Come back later; the store was not asked again.
    Remembered,
    /// The cost is above a limit.
    NeverFits,
    /// The store cannot be asked.
    Unavailable,
}

/// What came of a lock that somebody wanted, or had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOutcome {
    /// It was had.
    Acquired,
    /// Somebody else held it for as long as the caller waited.
    Busy,
    /// The store cannot be asked.
    Unavailable,
    /// Its holder was told that it is lost.
    Lost,
}

/// What became of visitors that were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitorsOutcome {
    /// Redis has counted them.
    Counted,
    /// They are not counted: there was no room for them, or they waited for too long.
    Dropped,
}

/// What a reader of a cache got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutcome {
    /// A fresh value out of the store.
    Store,
    /// A value past its fresh life.
    Stale,
    /// A value that this caller's loader gave.
    Loaded,
    /// A value that another caller's loader gave.
    Coalesced,
    /// A remembered absence, or one that the loader found.
    Absent,
    /// An absence: the filter that guards the cache does not know the id.
    Filtered,
    /// Nothing: the caller does not load.
    Miss,
    /// An error.
    Failed,
}

/// How a loader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    /// With a value.
    Value,
    /// With the knowledge that there is none.
    Absent,
    /// With an error of its own.
    Failed,
    /// Not within the load timeout.
    TimedOut,
    /// With a panic.
    Panicked,
    /// Not at all: no permit came free in time.
    Overloaded,
    /// Not at all: the origin breaker is open.
    Refused,
}

/// What became of a loaded value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillOutcome {
    /// It is stored.
    Stored,
    /// It was refused: its lease was lost to an invalidate, a put or an expiry.
    Refused,
    /// It is larger than the space allows, and so was handed out but not stored.
    TooLarge,
    /// The loader or its codec did not want it stored.
    NotStored,
}

/// Receives every [`Event`], on the path of the caller: it must be quick and must not block.
pub trait Observe: Send + Sync + 'static {
    /// Takes note of `event`.
    fn record(&self, event: Event<'_>);
}

/// Takes no note of anything.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Silent;

impl Observe for Silent {
    fn record(&self, _: Event<'_>) {}
}

impl fmt::Debug for dyn Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observe")
    }
}

//! What happens, in one vocabulary: primitives record events, observers turn them into figures.

mod outcome;

use std::{fmt, time::Duration};

pub use self::outcome::{
    BeginOutcome, ChangeSource, CheckOutcome, ClaimOutcome, CommandOutcome, CompleteOutcome, FillOutcome,
    FilterOutcome, LoadOutcome, LockOutcome, ReadOutcome, TopicOutcome, VisitorsOutcome,
};

/// Something that happened. Ids and values are never part of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something was built that later events name. Until then none does.
    Built(Part<'a>),
    /// A read of a cache was answered. Hits in process memory are counted in `Cache::stats` alone.
    Read {
        /// The space of the cache.
        space: &'a str,
        /// What the caller got.
        outcome: ReadOutcome,
        /// How long it took, from when process memory had no answer.
        took: Duration,
    },
    /// A loader ran, or a caller that loads by itself has brought what it loaded, or said that it failed.
    Load {
        /// The space of the cache.
        space: &'a str,
        /// How it ended.
        outcome: LoadOutcome,
        /// How long it took, the wait for a permit aside; nothing if it was not begun. Of a lease since it was granted,
        /// which is not known where another process did.
        took: Option<Duration>,
    },
    /// A flight has ended: what callers of one id waited for together.
    Flight {
        /// The space of the cache.
        space: &'a str,
        /// How many have waited. A load behind the backs of callers is none of these.
        callers: usize,
    },
    /// A loaded value was offered to the store.
    Fill {
        /// The space of the cache.
        space: &'a str,
        /// What became of it.
        outcome: FillOutcome,
    },
    /// An id was invalidated, expired or explicitly put, or a tag or the whole space was invalidated: here, or elsewhere
    /// as far as this process has heard.
    Changed {
        /// The space of the cache.
        space: &'a str,
        /// By whom, and how.
        source: ChangeSource,
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
    /// Somebody wanted to claim a name.
    Claimed {
        /// What came of it.
        outcome: ClaimOutcome,
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
    /// A node of Redis was asked, or could not be.
    Command {
        /// What it was asked, in one word: one of a few dozen that are part of the library.
        command: &'static str,
        /// What came of it.
        outcome: CommandOutcome,
        /// How long it took, waiting for a connection included.
        took: Duration,
    },
}

/// What events name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The space of a cache.
    Space(&'a str),
    /// A tier of a limiter; also one that has come with a replacement.
    Tier {
        /// The name of the policy.
        policy: &'a str,
        /// The name of the tier.
        tier: &'a str,
    },
    /// A counter of visitors.
    Counter(&'a str),
    /// A filter.
    Filter(&'a str),
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

//! How things end, each end with the word that it has in figures.

/// Enums whose variants have words.
macro_rules! outcomes {
    ($($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// The words of all, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];

            /// The word for it in figures.
            pub const fn word(self) -> &'static str {
                Self::WORDS[self as usize]
            }
        }
    )*};
}

outcomes! {
    /// What happens to the messages of a topic.
    #[non_exhaustive]
    pub enum TopicOutcome {
        /// The store has taken them.
        Published = "published",
        /// A subscriber, or a consumer of a group, has been given them.
        Delivered = "delivered",
        /// A consumer has done what they were for.
        Acknowledged = "acknowledged",
        /// A consumer could not, and they are delivered again.
        Returned = "returned",
        /// They were delivered too often, and were put aside.
        DeadLettered = "dead_lettered",
        /// They were no longer kept when their group came to them.
        Lost = "lost",
        /// A subscriber may have missed them.
        Missed = "missed",
        /// They were not written by a topic.
        Unreadable = "unreadable",
    }

    /// How it stood with what is to run once.
    pub enum BeginOutcome {
        /// The caller runs it.
        Run = "run",
        /// Somebody else runs it.
        Running = "running",
        /// It was done before.
        Done = "done",
        /// The name was used for something else.
        Mismatch = "mismatch",
        /// Nobody knows whether it was done.
        Indeterminate = "indeterminate",
        /// What is stored cannot be read, which counts as indeterminate.
        Unreadable = "unreadable",
        /// The store cannot be asked.
        Unavailable = "unavailable",
    }

    /// What became of the end of something that runs once.
    pub enum CompleteOutcome {
        /// It is stored.
        Stored = "stored",
        /// It is stored that it was done; what it brought is too large.
        WithoutRecord = "without_record",
        /// It was refused: another end was stored before.
        Conflict = "conflict",
        /// It was refused: somebody else has run since.
        Lost = "lost",
        /// The store has not answered for ten minutes, or too much waits for it.
        Unconfirmed = "unconfirmed",
    }

    /// What a filter knows of an id.
    pub enum FilterOutcome {
        /// It was never added.
        No = "no",
        /// It may have been added.
        Maybe = "maybe",
        /// Nothing: the filter was not built, or something was lost since.
        Incomplete = "incomplete",
        /// Nothing: the store cannot be asked.
        Unavailable = "unavailable",
    }

    /// What a limiter has said to a call.
    pub enum CheckOutcome {
        /// Go on.
        Allowed = "allowed",
        /// Come back later.
        Denied = "denied",
        /// Come back later; the store was not asked again.
        Remembered = "remembered",
        /// The cost is above a limit.
        NeverFits = "never_fits",
        /// The store cannot be asked.
        Unavailable = "unavailable",
    }

    /// What came of a lock that somebody wanted, or had.
    pub enum LockOutcome {
        /// It was had.
        Acquired = "acquired",
        /// Somebody else held it for as long as the caller waited.
        Busy = "busy",
        /// The store cannot be asked.
        Unavailable = "unavailable",
        /// Its holder was told that it is lost.
        Lost = "lost",
    }

    /// What became of visitors that were recorded.
    pub enum VisitorsOutcome {
        /// Redis has counted them.
        Counted = "counted",
        /// They are not counted: there was no room for them, or they waited for too long.
        Dropped = "dropped",
    }

    /// What a reader of a cache got.
    pub enum ReadOutcome {
        /// A fresh value out of the store.
        Store = "store",
        /// A value past its fresh life.
        Stale = "stale",
        /// A value that this caller's loader gave.
        Loaded = "loaded",
        /// A value that another caller's loader gave.
        Coalesced = "coalesced",
        /// A remembered absence, or one that the loader found.
        Absent = "absent",
        /// An absence: the filter that guards the cache does not know the id.
        Filtered = "filtered",
        /// Nothing: the caller does not load.
        Miss = "miss",
        /// An error.
        Failed = "failed",
    }

    /// How a loader ended.
    pub enum LoadOutcome {
        /// With a value.
        Value = "value",
        /// With the knowledge that there is none.
        Absent = "absent",
        /// With an error of its own.
        Failed = "failed",
        /// Not within the load timeout.
        TimedOut = "timed_out",
        /// With a panic.
        Panicked = "panicked",
        /// Not at all: no permit came free in time.
        Overloaded = "overloaded",
        /// Not at all: the origin breaker is open.
        Refused = "refused",
    }

    /// What became of a loaded value.
    pub enum FillOutcome {
        /// It is stored.
        Stored = "stored",
        /// It was refused: its lease was lost to an invalidate, a put or an expiry.
        Refused = "refused",
        /// It is larger than the space allows, and so was handed out but not stored.
        TooLarge = "too_large",
        /// The loader or its codec did not want it stored.
        NotStored = "not_stored",
    }

    /// What came of a claim.
    pub enum ClaimOutcome {
        /// The name is the caller's.
        Claimed = "claimed",
        /// Somebody else was first.
        Taken = "taken",
        /// The store cannot be asked.
        Unavailable = "unavailable",
    }

    /// What has changed a cache.
    pub enum ChangeSource {
        /// This process, which has put a value or an absence.
        Put = "put",
        /// This process, which has invalidated an id; also where it does so a second time.
        Invalidate = "invalidate",
        /// This process, which has expired an id.
        Expire = "expire",
        /// This process, which has invalidated a tag.
        Tag = "tag",
        /// This process, which has invalidated the whole space.
        Clear = "clear",
        /// This process, which has found the id by a pattern and invalidated it.
        Matching = "matching",
        /// Another process, which has said so.
        Heard = "heard",
        /// Somebody who has written to Redis, which has said so: maybe this process with a fill.
        Written = "written",
    }

    /// What came of a question to Redis.
    pub enum CommandOutcome {
        /// It has answered, be it that another node is to be asked.
        Answered = "answered",
        /// It has not, in the time there was.
        TimedOut = "timeout",
        /// The connection broke before.
        Lost = "lost",
        /// Nothing was sent: there is no connection, or the node is left alone.
        NotSent = "not_sent",
        /// It would not do it.
        Refused = "refused",
    }
}

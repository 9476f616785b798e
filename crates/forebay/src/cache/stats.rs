//! What one cache has done since it was built.

use crate::{
    counter::Counter,
    observe::{ChangeSource, Event, FillOutcome, LoadOutcome, ReadOutcome},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The figures of one cache since it was built.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Stats {
            /// Reads answered out of process memory.
            pub memory_hits: u64,
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The counters behind [`Stats`].
        #[derive(Debug, Default)]
        pub(crate) struct Counts {
            memory_hits: Counter,
            $($name: AtomicU64,)*
        }

        impl Counts {
            pub(crate) fn snapshot(&self) -> Stats {
                Stats {
                    memory_hits: self.memory_hits.sum(),
                    $($name: self.$name.load(Relaxed),)*
                }
            }
        }
    };
}

figures! {
    /// Reads answered out of the store.
    store_hits,
    /// Reads answered with a stale value.
    stale_hits,
    /// Reads that waited for another caller's load.
    coalesced,
    /// Reads answered by their own loader.
    loaded,
    /// Reads answered with an absence.
    absences,
    /// Reads of ids that the filter does not know.
    filtered,
    /// Reads that found nothing and did not load.
    misses,
    /// Reads that ended in an error.
    failures,
    /// Loaders that were run, and loads of callers that load by themselves, once they have brought something or failed.
    loads,
    /// Loads that failed, timed out or panicked.
    load_failures,
    /// Loads that got no permit in time.
    overloads,
    /// Loads that the origin breaker refused.
    refused_loads,
    /// Values stored after a load.
    fills,
    /// Values refused because their lease was lost while they loaded.
    refused_fills,
    /// Values handed out but too large to be stored.
    too_large,
    /// Ids invalidated, expired or put.
    changes,
    /// Stored entries that could not be read.
    unreadable,
    /// Callers that stopped waiting before they had an answer.
    cancelled_waits,
}

impl Counts {
    #[inline]
    pub(crate) fn memory_hit(&self) {
        self.memory_hits.add_one();
    }

    pub(crate) fn record(&self, event: &Event<'_>) {
        for figure in self.figures(event).into_iter().flatten() {
            figure.fetch_add(1, Relaxed);
        }
    }

    fn figures(&self, event: &Event<'_>) -> [Option<&AtomicU64>; 2] {
        match event {
            Event::Read { outcome, .. } => [Some(self.read(*outcome)), None],
            Event::Load { outcome, .. } => match outcome {
                LoadOutcome::Value | LoadOutcome::Absent => [Some(&self.loads), None],
                LoadOutcome::Failed | LoadOutcome::TimedOut | LoadOutcome::Panicked => {
                    [Some(&self.loads), Some(&self.load_failures)]
                }
                LoadOutcome::Overloaded => [Some(&self.overloads), None],
                LoadOutcome::Refused => [Some(&self.refused_loads), None],
            },
            Event::Fill { outcome, .. } => match outcome {
                FillOutcome::Stored => [Some(&self.fills), None],
                FillOutcome::Refused => [Some(&self.refused_fills), None],
                FillOutcome::TooLarge => [Some(&self.too_large), None],
                FillOutcome::NotStored => [None, None],
            },
            Event::Changed { source: ChangeSource::Heard | ChangeSource::Written, .. } => [None, None],
            Event::Changed { .. } => [Some(&self.changes), None],
            Event::Unreadable { .. } => [Some(&self.unreadable), None],
            Event::WaiterCancelled { .. } => [Some(&self.cancelled_waits), None],
            // Of the other primitives, but for one that is no figure here.
            _ => [None, None],
        }
    }

    fn read(&self, outcome: ReadOutcome) -> &AtomicU64 {
        match outcome {
            ReadOutcome::Store => &self.store_hits,
            ReadOutcome::Stale => &self.stale_hits,
            ReadOutcome::Loaded => &self.loaded,
            ReadOutcome::Coalesced => &self.coalesced,
            ReadOutcome::Absent => &self.absences,
            ReadOutcome::Filtered => &self.filtered,
            ReadOutcome::Miss => &self.misses,
            ReadOutcome::Failed => &self.failures,
        }
    }
}

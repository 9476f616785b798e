//! What a case needs to know of what was recorded.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use forebay::observe::{BeginOutcome, Event, Observe};

/// Counts what could not be read. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<AtomicUsize>);

impl Notes {
    /// How often something under the key of a limiter or an execution could not be read.
    pub(crate) fn unreadable(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Observe for Notes {
    fn record(&self, event: Event<'_>) {
        if matches!(event, Event::UnreadableLimit { .. } | Event::Begun { outcome: BeginOutcome::Unreadable })
        {
            self.0.fetch_add(1, Relaxed);
        }
    }
}

//! What has been counted so far.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::cli::latencies::Latencies;

/// What the callers have seen. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Figures(Arc<Mutex<Counted>>);

#[derive(Debug)]
struct Counted {
    all: Latencies,
    /// Since somebody has looked last.
    recent: Latencies,
    failed: u64,
}

/// What they say at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot {
    pub(super) requests: u64,
    pub(super) failed: u64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
}

impl Figures {
    pub(super) fn new() -> Self {
        let counted = Counted { all: Latencies::new(), recent: Latencies::new(), failed: 0 };
        Self(Arc::new(Mutex::new(counted)))
    }

    /// Takes note of a request that took so long until it was answered.
    pub(super) fn answered(&self, took: Duration) {
        self.with(|counted| {
            counted.all.record(took);
            counted.recent.record(took);
        });
    }

    /// Takes note of one that has taken so long and was not answered.
    pub(super) fn unanswered(&self, took: Duration) {
        self.answered(took);
        self.with(|counted| counted.failed += 1);
    }

    /// All requests, with the times of those since this was called last.
    pub(super) fn recent(&self) -> Snapshot {
        self.with(|counted| {
            let snapshot = counted.snapshot(&counted.recent);
            counted.recent.clear();
            snapshot
        })
    }

    /// All requests.
    pub(super) fn all(&self) -> Snapshot {
        self.with(|counted| counted.snapshot(&counted.all))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Counted) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Counted {
    fn snapshot(&self, times: &Latencies) -> Snapshot {
        let [p50, p99] = [50.0, 99.0].map(|percent| times.percentile(percent));
        Snapshot { requests: self.all.count(), failed: self.failed, p50, p99 }
    }
}

//! How many there are of something at present.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Counts what is there; cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<AtomicUsize>);

/// One that is counted, until it is dropped.
#[derive(Debug)]
pub(super) struct Counted(Tally);

impl Tally {
    pub(super) fn enter(&self) -> Counted {
        self.0.fetch_add(1, Relaxed);
        Counted(self.clone())
    }

    pub(super) fn now(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

//! A counter for the path of a hit: striped, so that threads do not fight over one cache line.

use std::cell::Cell;

use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

const STRIPES: usize = 8;

/// Counts events of many threads; only their sum can be read.
#[derive(Debug, Default)]
pub(crate) struct Counter([Stripe; STRIPES]);

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn add_one(&self) {
        self.0[stripe()].0.fetch_add(1, Relaxed);
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}

/// The stripe of this thread.
#[inline]
fn stripe() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) });
    STRIPE.with(|stripe| {
        if stripe.get() == usize::MAX {
            stripe.set(THREADS.fetch_add(1, Relaxed) % STRIPES);
        }
        stripe.get()
    })
}

//! A counter for the path of a hit: striped, so that a thread raises a number of its own without a locked
//! instruction.

use std::{
    cell::OnceCell,
    sync::{Mutex, PoisonError},
};

use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// As many threads have a stripe of their own; further ones share the last.
const OWNED: usize = 15;

/// Counts events of many threads; only the sum is told.
#[derive(Debug, Default)]
pub(crate) struct Counter([Stripe; OWNED + 1]);

#[derive(Debug, Default)]
#[repr(align(64))]
struct Stripe(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn add_one(&self) {
        let place = PLACE.try_with(|place| place.get_or_init(Place::take).0).unwrap_or(OWNED);
        let stripe = &self.0[place].0;
        if place < OWNED {
            // Nobody else writes here while this thread has the place.
            stripe.store(stripe.load(Relaxed) + 1, Relaxed);
        } else {
            stripe.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}

/// Which stripes are taken, by bit. The lock hands a stripe's last number from one owner to the next.
static TAKEN: Mutex<u16> = Mutex::new(0);

thread_local!(static PLACE: OnceCell<Place> = const { OnceCell::new() });

/// The number of a stripe that belongs to one living thread, or of the one for all others.
struct Place(usize);

impl Place {
    #[cold]
    fn take() -> Self {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (0..OWNED).find(|place| *taken & (1 << place) == 0);
        if let Some(place) = free {
            *taken |= 1 << place;
        }
        Self(free.unwrap_or(OWNED))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 < OWNED {
            *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) &= !(1 << self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn nothing_is_lost_however_many_threads_come_and_go() {
        let counter = Arc::new(Counter::default());
        for _ in 0..10 {
            let threads: Vec<_> = (0..40)
                .map(|_| {
                    let counter = counter.clone();
                    thread::spawn(move || (0..1000).for_each(|_| counter.add_one()))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
        assert_eq!(counter.sum(), 400_000);
    }
}

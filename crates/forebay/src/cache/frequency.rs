//! How often each id of a space is read between its loads: a sketch of fixed size, however many ids there are.
//!
//! It is a count-min sketch (Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch and its
//! applications", 2005) of two rows. An id counts in one place of each row, which it shares with others, so that it may
//! be taken for more frequent than it is; in both rows at once that is rare.

use std::hash::BuildHasher;

use crate::{
    hash::Seed,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// The places of a row. The two rows take 32 KiB.
const WIDTH: usize = 1 << 12;

/// Reads of the ids of one space since their last loads.
pub(crate) struct Frequency {
    hasher: Seed,
    rows: [Box<[AtomicU32]>; 2],
    /// Loads of the whole space.
    loads: AtomicU32,
}

impl Frequency {
    pub(crate) fn new() -> Self {
        let row = || (0..WIDTH).map(|_| AtomicU32::new(0)).collect();
        Self { hasher: Seed::default(), rows: [row(), row()], loads: AtomicU32::new(0) }
    }

    /// Counts a read that the cache has answered.
    #[inline]
    pub(crate) fn count(&self, id: &str) {
        for place in self.places(id) {
            place.fetch_add(1, Relaxed);
        }
    }

    /// Answers how often `id` was read since this was last asked, and begins to count anew.
    ///
    /// Ids that are never loaded again would count for ever: all counts are halved after as many loads as a row has
    /// places.
    pub(crate) fn take(&self, id: &str) -> u32 {
        let places = self.places(id);
        let count = places.iter().map(|place| place.load(Relaxed)).min().unwrap_or(0);
        for place in places {
            lower(place, |shared| shared.saturating_sub(count));
        }
        if self.loads.fetch_add(1, Relaxed) as usize % WIDTH == WIDTH - 1 {
            self.rows.iter().flatten().for_each(|place| lower(place, |count| count / 2));
        }
        count
    }

    #[inline]
    fn places(&self, id: &str) -> [&AtomicU32; 2] {
        let hash = self.hasher.hash_one(id);
        let [first, second] = &self.rows;
        [&first[at(hash)], &second[at(hash >> 32)]]
    }
}

#[inline]
fn at(hash: u64) -> usize {
    usize::try_from(hash % WIDTH as u64).unwrap_or(0)
}

fn lower(place: &AtomicU32, to: impl Fn(u32) -> u32) {
    place.fetch_update(Relaxed, Relaxed, |count| Some(to(count))).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_counted_from_load_to_load() {
        let frequency = Frequency::new();
        for reads in [0, 3, 1_000] {
            (0..reads).for_each(|_| frequency.count("a"));
            assert_eq!(frequency.take("a"), reads);
        }
    }

    #[test]
    fn beside_many_others_few_ids_are_taken_for_more_frequent() {
        let (frequency, is_hot) = (Frequency::new(), |id: u32| id.is_multiple_of(100));
        for id in 0..2_000 {
            let reads = if is_hot(id) { 1_000 } else { 1 };
            (0..reads).for_each(|_| frequency.count(&id.to_string()));
        }
        let cold = (0..2_000).filter(|id| !is_hot(*id));
        let overrated = cold.filter(|id| frequency.take(&id.to_string()) > 50).count();
        assert!(overrated < 5, "{overrated}");
    }

    #[test]
    fn what_is_never_loaded_again_is_forgotten() {
        let frequency = Frequency::new();
        (0..100_000).for_each(|_| frequency.count("hot"));
        for load in 0..WIDTH * 20 {
            frequency.take(&load.to_string());
        }
        assert_eq!(frequency.take("hot"), 0);
    }
}

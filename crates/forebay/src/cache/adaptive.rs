//! Lives that follow from how often a value is read.

use std::time::Duration;

use super::{
    entry::Loaded,
    inner::Inner,
    options::{Life, SHORTEST},
};

/// So many reads of a value give its next one the life in the middle.
const HALFWAY: f64 = 100.0;

/// The bounds between which a value that is loaded gets its fresh life: the longer, the more often its id was read
/// since it was last loaded.
///
/// After `h` reads that this cache has answered the life is `min + (max - min) * h / (h + 100)`, before jitter: `min`
/// where it was not read at all, half-way to `max` after a hundred reads. The formula is our own. The process that
/// loads decides by the reads that it has seen itself. It counts them in a sketch of 32 KiB for each space, so that
/// among thousands of ids a few are taken for others that are read more, or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptive {
    /// The life of a value that is not read between its loads.
    pub min: Duration,
    /// The life that no number of reads exceeds, before jitter.
    pub max: Duration,
}

impl Adaptive {
    /// The life of a value that is loaded after so many reads.
    pub(crate) fn life(self, reads: u32) -> Duration {
        let reads = f64::from(reads);
        let more = self.max.saturating_sub(self.min).as_secs_f64() * (reads / (reads + HALFWAY));
        self.min.saturating_add(Duration::try_from_secs_f64(more).unwrap_or(Duration::MAX)).min(self.max)
    }

    /// Why these bounds make no sense beside a `time_to_live`, with the remedy.
    pub(crate) fn contradiction(self, time_to_live: Duration) -> Option<&'static str> {
        if self.min < SHORTEST {
            return Some(
                "the min of adaptive is below a millisecond, so nothing would be stored; give it a life",
            );
        }
        let within = self.min < self.max && (self.min..=self.max).contains(&time_to_live);
        (!within).then_some("adaptive needs a min below its max, and time_to_live between the two")
    }
}

impl<V: Send + Sync + 'static> Inner<V> {
    /// Counts a read of `key` that the cache has answered.
    #[inline]
    pub(crate) fn count_answer(&self, key: &str) {
        if let Some(frequency) = &self.frequency {
            frequency.count(key);
        }
    }

    /// Takes note of a read of `key`, whatever answers it.
    #[inline]
    pub(crate) fn meet(&self, key: &str) {
        if let Some(heavy) = &self.shared.context.heavy {
            heavy.read(&self.shared.context.clock, &self.name, key);
        }
    }

    /// The life of what was `loaded` for `key`; `None` when it is not to be stored.
    pub(crate) fn life_of_load(&self, key: &str, loaded: &Loaded<V>) -> Option<Life> {
        let usual = match (&self.frequency, self.options.adaptive) {
            (Some(frequency), Some(adaptive)) => adaptive.life(frequency.take(key)),
            _ => self.options.time_to_live,
        };
        self.options.life_from(usual, loaded, &self.shared.context.dice)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hundred_reads_are_half_the_way() {
        let adaptive = Adaptive { min: Duration::from_secs(60), max: Duration::from_secs(3_660) };
        let lives = [0, 100, 300, 900].map(|reads| adaptive.life(reads).as_secs());
        assert_eq!(lives, [60, 1_860, 2_760, 3_300]);
    }

    proptest! {
        #[test]
        fn more_reads_are_a_longer_life_within_the_bounds(
            min in 1..u64::MAX, more in 1..u64::MAX, reads: u32, further: u32,
        ) {
            let (min, more) = (Duration::from_millis(min), Duration::from_millis(more));
            let adaptive = Adaptive { min, max: min.saturating_add(more) };
            let (life, longer) = (adaptive.life(reads), adaptive.life(reads.saturating_add(further)));
            prop_assert!(min <= life && life <= longer && longer <= adaptive.max);
        }
    }
}

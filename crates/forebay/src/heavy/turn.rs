//! Which sightings of a thread are counted: all while there are few, one in 64 while there are many, at uneven distances.

use std::cell::Cell;

use crate::{clock::Moment, dice::Dice};

/// The mean distance when there are many.
const FARTHEST: u32 = 64;

/// With less than this between two that were counted, there are many.
const DENSE_MS: u128 = 5;

/// With more than this, there are few.
const SPARSE_MS: u128 = 50;

/// Where a thread is on its way to the next one that is counted.
#[derive(Debug)]
pub(super) struct Turn {
    left: Cell<u32>,
    drawn: Cell<u32>,
    mean: Cell<u32>,
    at: Cell<Option<Moment>>,
}

impl Turn {
    pub(super) const fn new() -> Self {
        Self { left: Cell::new(1), drawn: Cell::new(1), mean: Cell::new(1), at: Cell::new(None) }
    }

    /// For how many sightings this one is to count, if it is: [`Turn::draw`] is then to be called.
    #[inline]
    pub(super) fn pass(&self) -> Option<u32> {
        let left = self.left.get() - 1;
        self.left.set(left);
        (left == 0).then(|| self.drawn.get())
    }

    /// Draws the distance to the next one. What comes at regular distances is not favoured nor missed by uneven ones.
    pub(super) fn draw(&self, now: Moment, dice: &Dice) {
        let since = self.at.replace(Some(now)).map_or(u128::MAX, |at| now.since(at).as_millis());
        let mean = self.mean.get();
        let mean = match since {
            _ if since < DENSE_MS => (mean * 2).min(FARTHEST),
            _ if since > SPARSE_MS => (mean / 2).max(1),
            _ => mean,
        };
        let drawn = 1 + (dice.bits() % u64::from(2 * mean - 1)) as u32;
        self.mean.set(mean);
        self.drawn.set(drawn);
        self.left.set(drawn);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_counted_stands_for_all() {
        let (turn, dice) = (Turn::new(), Dice::seeded(1));
        let (mut now, mut counted) = (Moment::default(), 0);
        for n in 0..1_000_000 {
            if n % 50_000 == 0 {
                now = now.after(Duration::from_millis(5));
            }
            if let Some(times) = turn.pass() {
                counted += times;
                turn.draw(now, &dice);
            }
        }
        assert!((990_000..=1_000_000).contains(&counted), "{counted}");
    }

    #[test]
    fn the_distance_grows_and_shrinks_with_the_crowd() {
        let (turn, dice) = (Turn::new(), Dice::seeded(1));
        let mut now = Moment::default();
        (0..10).for_each(|_| turn.draw(now, &dice));
        assert_eq!(turn.mean.get(), FARTHEST);
        for _ in 0..10 {
            now = now.after(Duration::from_millis(51));
            turn.draw(now, &dice);
        }
        assert_eq!((turn.mean.get(), turn.drawn.get()), (1, 1));
    }
}

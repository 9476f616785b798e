//! A window cut into ten: the tenth that runs and the ten before it count.

use super::{Cells, Held};
use crate::limiter::window::Window;

const TENTHS: u64 = 10;

/// What eleven tenths have got, the newest first.
#[derive(Debug, Default, Clone)]
pub(in crate::limiter) struct Strict([u64; 11]);

/// The number of the tenth at `age`, in a window of `length`.
fn tenth(age: u64, length: u64) -> u64 {
    age * TENTHS / length
}

impl Strict {
    /// Until the tenth that is `back` ones behind the one that runs counts no more.
    fn left(length: u64, age: u64, back: u64) -> u64 {
        ((tenth(age, length) + 1 + TENTHS - back) * length).div_ceil(TENTHS) - age
    }
}

impl Cells for Strict {
    const COUNT: usize = 11;

    /// The sum comes in the place of the newest.
    fn read(cells: &[u64]) -> Self {
        let mut tenths = [0; 11];
        tenths.iter_mut().zip(cells).for_each(|(tenth, cell)| *tenth = *cell);
        tenths[0] = tenths[0].saturating_sub(tenths[1..].iter().sum());
        Self(tenths)
    }

    fn advance(&mut self, length: u64, from: u64, to: u64) {
        let passed = (tenth(to, length) - tenth(from, length)).min(11) as usize;
        self.0.rotate_right(passed % 11);
        self.0[..passed].fill(0);
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; 11]
    }

    fn used(&self, _: &Window, _: u64) -> u64 {
        self.0.iter().sum()
    }

    fn take(&mut self, _: &Window, cost: u64) {
        self.0[0] += cost;
    }

    fn wait(&self, window: &Window, age: u64, cost: u64) -> u64 {
        let mut used = self.used(window, age);
        for (back, cell) in self.0.iter().enumerate().rev() {
            used -= cell;
            if used.saturating_add(cost) <= window.limit() {
                return Self::left(window.millis(), age, back as u64);
            }
        }
        self.rest(window, age)
    }

    fn rest(&self, window: &Window, age: u64) -> u64 {
        let newest = self.0.iter().position(|cell| *cell > 0);
        newest.map_or(0, |back| Self::left(window.millis(), age, back as u64))
    }

    fn mark(&self) -> u64 {
        0
    }

    fn settle(&mut self, window: &Window, age: u64, held: Held, change: i64) -> bool {
        let (length, used) = (window.millis(), self.used(window, age));
        let back =
            usize::try_from(tenth(age, length).saturating_sub(tenth(held.age, length))).unwrap_or(usize::MAX);
        let Some(cell) = self.0.get_mut(back) else { return false };
        *cell = cell.saturating_add_signed(change.min(window.limit().saturating_sub(used).cast_signed()));
        true
    }
}

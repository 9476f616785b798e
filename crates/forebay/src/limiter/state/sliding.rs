//! A window, and the share of the one before that is still to come.

use super::{Cells, Held};
use crate::limiter::window::Window;

/// What the window that runs and the one before have got.
#[derive(Debug, Default, Clone)]
pub(in crate::limiter) struct Sliding {
    current: u64,
    previous: u64,
}

impl Sliding {
    /// How much of what the window before has got counts at `age`.
    fn weighed(&self, length: u64, age: u64) -> u64 {
        share(self.previous, length - age % length, length)
    }
}

/// `part` out of `whole` of a count, rounded up.
fn share(count: u64, part: u64, whole: u64) -> u64 {
    let share = (u128::from(count) * u128::from(part)).div_ceil(u128::from(whole));
    u64::try_from(share).expect("a share is no more than the count")
}

/// Until of `count`, which is as old as `into` a window, no more than `room` counts.
fn until(count: u64, room: u64, length: u64, into: u64) -> u64 {
    let kept = u128::from(room) * u128::from(length) / u128::from(count);
    (length - u64::try_from(kept).map_or(length, |kept| kept.min(length))).saturating_sub(into)
}

impl Cells for Sliding {
    const COUNT: usize = 2;

    fn read(cells: &[u64]) -> Self {
        Self { current: cells[0], previous: cells[1] }
    }

    fn advance(&mut self, length: u64, from: u64, to: u64) {
        match to / length - from / length {
            0 => {}
            1 => *self = Self { current: 0, previous: self.current },
            _ => *self = Self::default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.current + self.previous == 0
    }

    fn used(&self, window: &Window, age: u64) -> u64 {
        self.current + self.weighed(window.millis(), age)
    }

    fn take(&mut self, _: &Window, cost: u64) {
        self.current += cost;
    }

    fn wait(&self, window: &Window, age: u64, cost: u64) -> u64 {
        let length = window.millis();
        let into = age % length;
        match window.limit().checked_sub(self.current + cost) {
            Some(room) => until(self.previous, room, length, into),
            None => length - into + until(self.current, window.limit().saturating_sub(cost), length, 0),
        }
    }

    fn rest(&self, window: &Window, age: u64) -> u64 {
        let length = window.millis();
        let left = length - age % length;
        match self {
            Self { current: 1.., .. } => left + length,
            Self { previous: 1.., .. } => left,
            _ => 0,
        }
    }

    fn mark(&self) -> u64 {
        0
    }

    fn settle(&mut self, window: &Window, age: u64, held: Held, change: i64) -> bool {
        let most = window.limit().saturating_sub(self.used(window, age));
        let change = change.min(most.cast_signed());
        let cell = match (age / window.millis()).checked_sub(held.age / window.millis()) {
            Some(0) => &mut self.current,
            Some(1) => &mut self.previous,
            _ => return false,
        };
        *cell = cell.saturating_add_signed(change);
        true
    }
}

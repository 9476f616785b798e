//! A debt that time pays off evenly: the generic cell rate algorithm (ITU-T I.371) as a virtual queue.

use super::{Cells, Held};
use crate::limiter::window::Window;

/// The debt in tokens times ms: a token is the length of the window, and a ms pays the limit off.
#[derive(Debug, Default, Clone)]
pub(in crate::limiter) struct Gcra {
    /// The limit when something was last taken.
    rate: u64,
    debt: u64,
}

impl Cells for Gcra {
    const COUNT: usize = 2;

    fn read(cells: &[u64]) -> Self {
        Self { rate: cells[0], debt: cells[1] }
    }

    fn advance(&mut self, _: u64, from: u64, to: u64) {
        self.debt = self.debt.saturating_sub((to - from).saturating_mul(self.rate));
    }

    fn is_empty(&self) -> bool {
        self.debt == 0
    }

    fn used(&self, window: &Window, _: u64) -> u64 {
        self.debt.div_ceil(window.millis())
    }

    fn take(&mut self, window: &Window, cost: u64) {
        self.rate = window.limit();
        self.debt += cost * window.millis();
    }

    fn wait(&self, window: &Window, _: u64, cost: u64) -> u64 {
        let room = (window.most_at_once() - cost) * window.millis();
        self.debt.saturating_sub(room).div_ceil(self.rate.max(1))
    }

    fn rest(&self, _: &Window, _: u64) -> u64 {
        self.debt.div_ceil(self.rate.max(1))
    }

    fn mark(&self) -> u64 {
        self.debt
    }

    /// As much can be returned as is left of the debt of then: what was reserved last is paid off last. What was
    /// returned since may have been a part of it.
    fn settle(&mut self, window: &Window, age: u64, held: Held, change: i64) -> bool {
        let paid = (age - held.age).saturating_mul(self.rate.max(window.limit()));
        let returned = held.returned.saturating_mul(window.millis());
        let left = held.mark.saturating_sub(paid).saturating_sub(returned);
        if left == 0 {
            return false;
        }
        let change = i128::from(change) * i128::from(window.millis());
        let most = (window.most_at_once() * window.millis()).saturating_sub(self.debt);
        let change = change.clamp(-i128::from(left.min(self.debt)), i128::from(most));
        self.debt = u64::try_from(i128::from(self.debt) + change).expect("it is from 0 to the burst");
        true
    }
}

//! Every unit that was taken, by its instant.

use std::{collections::VecDeque, time::Duration};

use super::{Outcome, Receipt};
use crate::limiter::{policy::Tier, quota::Usage, window::Window};

/// The numbers of what was taken, and when, the oldest first.
#[derive(Debug)]
pub(in crate::limiter) struct Log {
    id: u64,
    taken: VecDeque<(u64, u64)>,
    number: u64,
}

impl Log {
    pub(super) fn new(id: u64) -> Self {
        Self { id, taken: VecDeque::new(), number: 0 }
    }

    pub(super) fn check(&mut self, tier: &Tier, now: u64, cost: u64, take: bool) -> Outcome {
        let wait = tier.windows.iter().map(|window| self.wait(window, now, cost)).max().unwrap_or(0);
        if take && wait == 0 {
            self.take(tier, now, cost);
        }
        let usage = tier.windows.iter().map(|window| self.usage(window, now)).collect();
        Outcome { fits: wait == 0, wait: Duration::from_millis(wait), usage }
    }

    /// Finds the `cost` that was taken last.
    pub(super) fn receipt(&self, cost: u64) -> Receipt {
        Receipt { id: self.id, age: 0, returned: 0, marks: vec![self.number - cost] }
    }

    pub(super) fn settle(&mut self, tier: &Tier, now: u64, receipt: &Receipt, reserved: u64, actual: u64) {
        if receipt.id != self.id {
            return;
        }
        let (first, longest) = (receipt.marks[0], tier.windows.iter().map(Window::millis).max().unwrap_or(0));
        if actual < reserved {
            self.taken.retain(|(number, _)| !(first + actual..first + reserved).contains(number));
        } else if self.taken.iter().any(|(number, at)| *number == first && at + longest > now) {
            let room = |window: &Window| window.limit().saturating_sub(self.used(window, now));
            let most = tier.windows.iter().map(room).min().unwrap_or(0);
            self.take(tier, now, most.min(actual - reserved));
        }
    }

    fn take(&mut self, tier: &Tier, now: u64, cost: u64) {
        while self.taken.front().is_some_and(|(_, at)| at + tier.horizon <= now) {
            self.taken.pop_front();
        }
        self.taken.extend((self.number..self.number + cost).map(|number| (number, now)));
        self.number += cost;
    }

    /// The instants that count in `window`, the oldest first.
    fn counted(&self, window: &Window, now: u64) -> impl Iterator<Item = u64> {
        let first = self.taken.partition_point(|(_, at)| at + window.millis() <= now);
        self.taken.range(first..).map(|(_, at)| *at)
    }

    fn used(&self, window: &Window, now: u64) -> u64 {
        self.counted(window, now).count() as u64
    }

    fn wait(&self, window: &Window, now: u64, cost: u64) -> u64 {
        let beyond = (self.used(window, now) + cost).saturating_sub(window.limit());
        let leaving = beyond.checked_sub(1).and_then(|n| self.counted(window, now).nth(n as usize));
        leaving.map_or(0, |at| at + window.millis() - now)
    }

    fn usage(&self, window: &Window, now: u64) -> Usage {
        let newest = self.counted(window, now).last();
        let rest = newest.map_or(0, |at| at + window.millis() - now);
        Usage { used: self.used(window, now), rest: Duration::from_millis(rest) }
    }
}

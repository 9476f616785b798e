//! The arithmetic of the modes, each as a script has it: what a subject has taken, and what of it counts.
//!
//! Times are in ms of the subject's own time, which begins at its first call.

mod gcra;
mod log;
mod sliding;
mod strict;

use std::time::Duration;

pub(super) use self::{gcra::Gcra, log::Log, sliding::Sliding, strict::Strict};
use super::{mode::Mode, policy::Tier, quota::Usage, window::Window};

/// What one window has got.
pub(super) trait Cells: Clone + Default {
    /// How many numbers it is.
    const COUNT: usize;

    /// Reads the numbers that a script has written.
    fn read(cells: &[u64]) -> Self;

    /// Lets the time go on.
    fn advance(&mut self, length: u64, from: u64, to: u64);

    /// Whether nothing counts any more.
    fn is_empty(&self) -> bool;

    /// How much counts.
    fn used(&self, window: &Window, age: u64) -> u64;

    fn take(&mut self, window: &Window, cost: u64);

    /// Until `cost` fits, which is at most what the window allows at once.
    fn wait(&self, window: &Window, age: u64, cost: u64) -> u64;

    /// Until nothing counts any more.
    fn rest(&self, window: &Window, age: u64) -> u64;

    /// What a receipt needs to find what was taken just now.
    fn mark(&self) -> u64;

    /// Adds `change`, which may be negative, to what was taken: down to nothing, up to the limit. Whether what was
    /// taken still counts.
    fn settle(&mut self, window: &Window, age: u64, held: Held, change: i64) -> bool;
}

/// When something was taken out of one window, and what has happened to it since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    age: u64,
    mark: u64,
    /// How much settlements have returned since.
    returned: u64,
}

/// Where what was taken in this process is to be found again.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    id: u64,
    age: u64,
    returned: u64,
    marks: Vec<u64>,
}

/// What one subject has taken, in the mode of its policy.
#[derive(Debug)]
pub(super) enum State {
    Strict(Windows<Strict>),
    Sliding(Windows<Sliding>),
    Gcra(Windows<Gcra>),
    Log(Log),
}

/// What one subject has taken out of windows of several lengths.
#[derive(Debug, Clone)]
pub(super) struct Windows<C> {
    /// No other state of the subject has had it.
    id: u64,
    born: u64,
    age: u64,
    /// How much settlements have returned in all.
    returned: u64,
    windows: Vec<(u64, C)>,
}

/// What is decided about a cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) fits: bool,
    pub(super) wait: Duration,
    pub(super) usage: Vec<Usage>,
}

impl State {
    /// A subject that has taken nothing by `now`. `id` is a number that no other has.
    pub(super) fn new(mode: Mode, id: u64, now: u64) -> Self {
        match mode {
            Mode::Strict => Self::Strict(Windows::new(id, now)),
            Mode::Sliding => Self::Sliding(Windows::new(id, now)),
            Mode::Gcra => Self::Gcra(Windows::new(id, now)),
            Mode::Log => Self::Log(Log::new(id)),
        }
    }

    /// Decides about `cost`, and takes it if it fits and `take` says so.
    pub(super) fn check(&mut self, tier: &Tier, now: u64, cost: u64, take: bool) -> Outcome {
        match self {
            Self::Strict(windows) => windows.check(tier, now, cost, take),
            Self::Sliding(windows) => windows.check(tier, now, cost, take),
            Self::Gcra(windows) => windows.check(tier, now, cost, take),
            Self::Log(log) => log.check(tier, now, cost, take),
        }
    }

    /// Finds what was taken just now.
    pub(super) fn receipt(&self, tier: &Tier, cost: u64) -> Receipt {
        match self {
            Self::Strict(windows) => windows.receipt(tier),
            Self::Sliding(windows) => windows.receipt(tier),
            Self::Gcra(windows) => windows.receipt(tier),
            Self::Log(log) => log.receipt(cost),
        }
    }

    /// Corrects what was taken, where that still counts.
    pub(super) fn settle(&mut self, tier: &Tier, now: u64, receipt: &Receipt, reserved: u64, actual: u64) {
        match self {
            Self::Strict(windows) => windows.settle(tier, receipt, reserved, actual),
            Self::Sliding(windows) => windows.settle(tier, receipt, reserved, actual),
            Self::Gcra(windows) => windows.settle(tier, receipt, reserved, actual),
            Self::Log(log) => log.settle(tier, now, receipt, reserved, actual),
        }
    }

    /// The lengths of other tiers' windows that may still count.
    pub(super) fn longest(&self) -> u64 {
        match self {
            Self::Strict(windows) => windows.longest(),
            Self::Sliding(windows) => windows.longest(),
            Self::Gcra(windows) => windows.longest(),
            Self::Log(_) => 0,
        }
    }
}

impl<C: Cells> Windows<C> {
    pub(super) fn new(id: u64, born: u64) -> Self {
        Self { id, born, age: 0, returned: 0, windows: Vec::new() }
    }

    /// What a script has written, `age` being the subject's own time by now.
    pub(super) fn read(tier: &Tier, written: u64, age: u64, cells: impl Iterator<Item = C>) -> Self {
        let windows = tier.windows.iter().map(Window::millis).zip(cells).collect();
        let mut windows = Self { id: 0, born: 0, age: written, returned: 0, windows };
        windows.advance(age);
        windows
    }

    fn check(&mut self, tier: &Tier, now: u64, cost: u64, take: bool) -> Outcome {
        let mut next = self.clone();
        next.advance(now.saturating_sub(self.born));
        let wait = next.wait(tier, cost);
        let mut usage = next.usage(tier);
        if take && wait.is_zero() {
            for window in &tier.windows {
                next.cells(window).take(window, cost);
            }
            usage = next.usage(tier);
            *self = next;
        }
        Outcome { fits: wait.is_zero(), wait, usage }
    }

    /// Until `cost` fits into every window; zero if it does.
    pub(super) fn wait(&mut self, tier: &Tier, cost: u64) -> Duration {
        let age = self.age;
        let waits = tier.windows.iter().map(|window| {
            let cells = self.cells(window);
            let fits = cells.used(window, age).saturating_add(cost) <= window.most_at_once();
            if fits { 0 } else { cells.wait(window, age, cost).max(1) }
        });
        Duration::from_millis(waits.max().unwrap_or(0))
    }

    pub(super) fn usage(&mut self, tier: &Tier) -> Vec<Usage> {
        let age = self.age;
        let of = |window: &Window| {
            let cells = self.cells(window);
            Usage { used: cells.used(window, age), rest: Duration::from_millis(cells.rest(window, age)) }
        };
        tier.windows.iter().map(of).collect()
    }

    fn longest(&self) -> u64 {
        self.windows.iter().map(|(length, _)| *length).max().unwrap_or(0)
    }

    fn receipt(&self, tier: &Tier) -> Receipt {
        let mark = |window: &Window| {
            let found = self.windows.iter().find(|(length, _)| *length == window.millis());
            found.map_or(0, |(_, cells)| cells.mark())
        };
        Receipt {
            id: self.id,
            age: self.age,
            returned: self.returned,
            marks: tier.windows.iter().map(mark).collect(),
        }
    }

    fn settle(&mut self, tier: &Tier, receipt: &Receipt, reserved: u64, actual: u64) {
        if receipt.id != self.id {
            return;
        }
        let more = actual.min(i64::MAX.cast_unsigned()).cast_signed();
        let (age, change) = (self.age, more.saturating_sub(reserved.cast_signed()));
        let (returned, mut counts) = (self.returned - receipt.returned, false);
        for (window, mark) in tier.windows.iter().zip(&receipt.marks) {
            let held = Held { age: receipt.age, mark: *mark, returned };
            counts |= self.cells(window).settle(window, age, held, change);
        }
        if counts {
            self.returned += reserved.saturating_sub(actual);
        }
    }

    fn advance(&mut self, age: u64) {
        let from = self.age;
        for (length, cells) in &mut self.windows {
            cells.advance(*length, from, age);
        }
        self.windows.retain(|(_, cells)| !cells.is_empty());
        self.age = age;
    }

    fn cells(&mut self, window: &Window) -> &mut C {
        let length = window.millis();
        let place = match self.windows.iter().position(|(other, _)| *other == length) {
            Some(place) => place,
            None => {
                self.windows.push((length, C::default()));
                self.windows.len() - 1
            }
        };
        &mut self.windows[place].1
    }
}

//! The exact model: plain lists of what was admitted when. It knows no positions and no sub-buckets.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

/// One window of a tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    /// Milliseconds.
    pub(super) window: i64,
    pub(super) limit: i64,
    /// Of `gcra` alone.
    pub(super) burst: i64,
}

pub(super) fn rule(limit: i64, window: i64) -> Rule {
    Rule { window, limit, burst: limit }
}

/// What was admitted, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct List(Vec<Taken>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) at: i64,
    pub(super) cost: i64,
    /// The most that a mode may count instead, where a settlement could not undo all of it.
    pub(super) most: i64,
    /// Which check took it.
    pub(super) check: usize,
}

impl List {
    pub(super) fn take(&mut self, taken: Taken) {
        self.0.push(taken);
    }

    /// Puts another cost in the place of what a check took.
    pub(super) fn correct(&mut self, check: usize, cost: i64, most: i64) {
        if let Some(taken) = self.0.iter_mut().rev().find(|taken| taken.check == check) {
            (taken.cost, taken.most) = (cost, most);
        }
    }

    /// The list with the most that may be counted of each admission.
    pub(super) fn at_most(&self) -> Cow<'_, Self> {
        if self.0.iter().all(|taken| taken.cost == taken.most) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self(self.0.iter().map(|taken| Taken { cost: taken.most, ..*taken }).collect()))
    }

    /// Drops what came before `at`.
    fn trim(&mut self, at: i64) {
        let old = self.0.partition_point(|taken| taken.at < at);
        self.0.drain(..old);
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Taken> {
        self.0.iter().rev()
    }

    /// What was admitted in `(after, until]`.
    pub(super) fn between(&self, after: i64, until: i64) -> i64 {
        let young = self.newest_first().take_while(|taken| taken.at > after);
        young.filter(|taken| taken.at <= until).map(|taken| taken.cost).sum()
    }

    /// What was admitted in the trailing window `(at - window, at]`.
    pub(super) fn trailing(&self, window: i64, at: i64) -> i64 {
        self.between(at - window, at)
    }

    /// The debt at `at` in tokens times milliseconds, by its definition in closed form: the worst, over every
    /// admission, of what was admitted since less what was paid since.
    pub(super) fn debt(&self, rule: Rule, at: i64) -> i128 {
        let (mut since, mut worst) = (0, 0);
        for taken in self.newest_first() {
            since += i128::from(taken.cost) * i128::from(rule.window);
            worst = worst.max(since - i128::from(rule.limit) * i128::from(at - taken.at));
        }
        worst
    }
}

/// The key's own clock: it stands still while the server's goes back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyClock {
    age: i64,
    /// When a script last wrote, on the server's clock.
    last: Option<i64>,
}

impl KeyClock {
    pub(super) fn age(&self, now: i64) -> i64 {
        self.age + self.last.map_or(0, |last| (now - last).max(0))
    }

    /// Whether a script has to write down that the server's clock went back.
    pub(super) fn went_back(&self, now: i64) -> bool {
        self.last.is_some_and(|last| now < last)
    }

    pub(super) fn write(&mut self, now: i64) {
        *self = Self { age: self.age(now), last: Some(now) };
    }

    /// The key is gone, and its clock with it.
    pub(super) fn stop(&mut self, now: i64) {
        *self = Self { age: self.age(now), last: None };
    }
}

/// One list for each length of window, since a window counts only what was asked for with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) clock: KeyClock,
    lists: BTreeMap<i64, List>,
}

impl Model {
    pub(super) fn list(&mut self, rule: Rule) -> &List {
        self.lists.entry(rule.window).or_default()
    }

    pub(super) fn take(&mut self, rules: &[Rule], taken: Taken) {
        let windows: BTreeSet<_> = rules.iter().map(|rule| rule.window).collect();
        for window in windows {
            self.lists.entry(window).or_default().take(taken);
        }
    }

    pub(super) fn correct(&mut self, check: usize, cost: i64, most: i64) {
        self.lists.values_mut().for_each(|list| list.correct(check, cost, most));
    }

    /// Drops what cannot count any more, or be owed: what is older than four windows and not part of a debt.
    pub(super) fn trim(&mut self, at: i64) {
        for (window, list) in &mut self.lists {
            let idle = list.0.windows(2).rposition(|pair| pair[1].at - pair[0].at > *window);
            let kept = idle.map_or(i64::MIN, |last| list.0[last + 1].at);
            list.trim(kept.min(at - 4 * window));
        }
    }

    /// The key is gone: its clock, and all that was admitted.
    pub(super) fn forget(&mut self, now: i64) {
        self.clock.stop(now);
        self.lists.clear();
    }
}

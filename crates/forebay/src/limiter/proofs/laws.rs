//! What each mode promises, in terms of the list alone. Every law is a function that errs where it is broken.

use std::ops::RangeInclusive;

use super::model::{List, Rule};
use crate::limiter::Mode;

pub(super) const MODES: [Mode; 4] = [Mode::Strict, Mode::Sliding, Mode::Gcra, Mode::Log];

/// What a mode's definition says about a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Says {
    Admit,
    Refuse,
    /// The list does not tell: it depends on where the sub-buckets or fixed windows lie.
    Either,
}

impl Mode {
    /// How much of the list the mode may count at `at`, from the least to the most, in whole tokens.
    ///
    /// `strict` must count the window, and may count a tenth of it more. `sliding` weighs what is `d` old with
    /// at least `(W - d) / W` and at most `(2W - d) / W`, never more than 1.
    pub(super) fn counted(self, rule: Rule, list: &List, at: i64) -> RangeInclusive<i128> {
        let (w, most) = (rule.window, list.at_most());
        match self {
            Self::Log => list.trailing(w, at).into()..=most.trailing(w, at).into(),
            Self::Strict => list.trailing(w, at).into()..=most.between(at - (11 * w + 9) / 10, at).into(),
            Self::Sliding => weighed(rule, list, at, w)..=weighed(rule, &most, at, 2 * w),
            Self::Gcra => up(list.debt(rule, at), w)..=up(most.debt(rule, at), w),
        }
    }

    pub(super) fn room(self, rule: Rule) -> i128 {
        i128::from(if self == Self::Gcra { rule.burst } else { rule.limit })
    }

    pub(super) fn says(self, rule: Rule, list: &List, at: i64, cost: i64) -> Says {
        let counted = self.counted(rule, list, at);
        let room = self.room(rule) - i128::from(cost);
        match (*counted.start() <= room, *counted.end() <= room) {
            (_, true) => Says::Admit,
            (false, _) => Says::Refuse,
            (true, false) => Says::Either,
        }
    }

    /// The published bound, at an instant at which something was admitted: no trailing window holds more than one
    /// that ends there.
    pub(super) fn bound(self, rule: Rule, list: &List, at: i64) -> Result<(), String> {
        let trailing = list.trailing(rule.window, at);
        let holds = match self {
            Self::Strict | Self::Log => trailing <= rule.limit,
            Self::Sliding => trailing < 2 * rule.limit,
            Self::Gcra => smooth(rule, list),
        };
        law(holds, || format!("{self:?} {rule:?} has admitted {trailing} in the window up to {at}"))
    }
}

pub(super) fn law(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn up(product: i128, window: i64) -> i128 {
    let window = i128::from(window);
    (product + window - 1).div_euclid(window)
}

/// The list weighed with `(end - age) / W`, at most 1, rounded up.
fn weighed(rule: Rule, list: &List, at: i64, end: i64) -> i128 {
    let young = list.newest_first().take_while(|taken| at - taken.at < end);
    let weigh = |age: i64| i128::from((end - age).min(rule.window));
    up(young.map(|taken| i128::from(taken.cost) * weigh(at - taken.at)).sum(), rule.window)
}

/// `burst + L·T/W` over every span from an admission to the newest.
fn smooth(rule: Rule, list: &List) -> bool {
    let Some(newest) = list.newest_first().next() else { return true };
    let mut since = 0;
    list.newest_first().all(|taken| {
        since += i128::from(taken.cost);
        let paid = i128::from(rule.limit) * i128::from(newest.at - taken.at);
        since * i128::from(rule.window) <= i128::from(rule.burst) * i128::from(rule.window) + paid
    })
}

/// What the definition says of all windows together.
pub(super) fn all(says: impl IntoIterator<Item = Says>) -> Says {
    says.into_iter().fold(Says::Admit, |all, one| match (all, one) {
        (Says::Refuse, _) | (_, Says::Refuse) => Says::Refuse,
        (Says::Admit, Says::Admit) => Says::Admit,
        _ => Says::Either,
    })
}

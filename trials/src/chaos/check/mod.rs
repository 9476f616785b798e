//! What the promises do not allow, whatever goes wrong; with what they leave out counted apart.
//!
//! | to see | read |
//! |---|---|
//! | whether what is old is shown | `freshness` |
//! | whether one load runs at a time | `loads` |
//! | what callers notice: errors, and time that no load took | `callers` |
//! | how steps, loads and faults are found | `ledger` |

mod callers;
mod freshness;
mod ledger;
mod loads;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt};

use self::ledger::Ledger;
use super::history::{History, Left};
use crate::moment::Moment;

/// A promise of the cache, by its number in DESIGN.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// 1: Redis is optional. No error but the loader's, and no time added beyond the budget.
    Optional,
    /// 2: one load at a time.
    OneLoad,
    /// 3: nothing old after a change, at once.
    NotStale,
    /// 4: nothing older than the bound in another process.
    Bounded,
    /// 5: nothing without expiry.
    Expiring,
    /// 8: every wait is bounded, every task ends.
    Ending,
}

impl Promise {
    /// All that are checked.
    pub const ALL: [Self; 6] =
        [Self::Optional, Self::OneLoad, Self::NotStale, Self::Bounded, Self::Expiring, Self::Ending];
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Optional => "P1 optional",
            Self::OneLoad => "P2 one load",
            Self::NotStale => "P3 not stale",
            Self::Bounded => "P4 bounded",
            Self::Expiring => "P5 expiring",
            Self::Ending => "P8 ending",
        })
    }
}

/// What a promise does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub promise: Promise,
    /// What is wrong, and who was seen to do it.
    pub what: String,
    /// From the first of what is seen to the last.
    pub from: Moment,
    /// See [`from`](Self::from).
    pub to: Moment,
}

/// What is known of a history in the end.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// What must not be.
    pub violations: Vec<Violation>,
    /// What a promise leaves out, by the reason.
    pub excused: BTreeMap<(Promise, &'static str), usize>,
    /// How often a promise could have been broken.
    pub tried: BTreeMap<Promise, usize>,
}

/// What becomes of something that looks wrong.
enum Finding {
    Excused(&'static str),
    Wrong(Violation),
}

impl Verdict {
    /// Checks everything.
    pub fn of(history: &History) -> Self {
        let (ledger, mut verdict) = (Ledger::of(history), Self::default());
        freshness::check(&ledger, &mut verdict);
        loads::check(&ledger, &mut verdict);
        callers::check(&ledger, &mut verdict);
        verdict.take_left(history);
        verdict
    }

    /// How often a promise was broken.
    pub fn count(&self, promise: Promise) -> usize {
        self.violations.iter().filter(|violation| violation.promise == promise).count()
    }

    /// The violation that spans the least time, of one promise.
    pub fn shortest(&self, promise: Promise) -> Option<&Violation> {
        let of_it = self.violations.iter().filter(|violation| violation.promise == promise);
        of_it.min_by_key(|violation| violation.to.since(violation.from))
    }

    fn tries(&mut self, promise: Promise) {
        *self.tried.entry(promise).or_default() += 1;
    }

    fn take(&mut self, promise: Promise, finding: Finding) {
        match finding {
            Finding::Excused(why) => *self.excused.entry((promise, why)).or_default() += 1,
            Finding::Wrong(violation) => self.violations.push(violation),
        }
    }

    fn take_left(&mut self, history: &History) {
        let at = history.steps.iter().map(|step| step.span().ended).max().unwrap_or(Moment(0));
        for left in &history.left {
            let (promise, what) = match left {
                Left::ForEver(key) => (Promise::Expiring, format!("{key} has no expiry")),
                Left::Unwell(what) => (Promise::Ending, format!("not well: {what}")),
                Left::Tasks(what) | Left::Running(what) => (Promise::Ending, what.clone()),
            };
            self.violations.push(Violation { promise, what, from: at, to: at });
        }
        self.tried.insert(Promise::Expiring, history.looks);
    }
}

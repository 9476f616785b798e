//! Nothing older is shown than a change that has to be seen: at once by the process that made it and by one without
//! memory, within the bound by the others.
//!
//! Versions of a row only grow, so that a value is too old where it is below the version of a change.

use std::{collections::HashMap, time::Duration};

use super::{Finding, Promise, Verdict, Violation, ledger::Ledger};
use crate::{
    chaos::{
        REPLAYED,
        fault::Takes,
        history::{Act, Step},
    },
    moment::Moment,
    order::Outcome,
};

/// How late the machine may be with what ends the trust in a memory.
const SLACK: Duration = Duration::from_millis(250);

/// How much of what a primary has done its replica may lack.
const BEHIND: Duration = Duration::from_secs(2);

pub(super) fn check(ledger: &Ledger<'_>, verdict: &mut Verdict) {
    for item in ledger.by_id.values() {
        let changes = Changes::of(ledger, &item.steps);
        for read in &item.steps {
            if let Some(shown) = read.shown() {
                changes.check(ledger, read, shown, verdict);
            }
        }
    }
}

/// The changes of one id, and from when on which version has to be seen.
struct Changes<'a> {
    /// By everybody: what was changed by itself, and what by something that it has in common with others.
    others: Tide<'a>,
    passing: Tide<'a>,
    /// By each process what it changed.
    own: HashMap<usize, Tide<'a>>,
}

/// Changes in the order in which they have to be seen, each with the highest version so far.
#[derive(Default)]
struct Tide<'a> {
    changes: Vec<(Moment, u64, &'a Step)>,
    highest: Vec<u64>,
}

impl<'a> Tide<'a> {
    fn of(mut changes: Vec<(Moment, u64, &'a Step)>) -> Self {
        changes.sort_by_key(|(moment, ..)| *moment);
        let highest = changes.iter().scan(0, |highest: &mut u64, (_, version, _)| {
            *highest = (*highest).max(*version);
            Some(*highest)
        });
        let highest = highest.collect();
        Self { changes, highest }
    }

    /// The changes above `shown` that are to be seen at `moment`, and whether there is any to be seen.
    fn missed(&self, moment: Moment, shown: u64) -> (bool, impl Iterator<Item = &'a Step>) {
        let due = self.changes.partition_point(|(from, ..)| *from <= moment);
        let some = due > 0 && self.highest[due - 1] > shown;
        let due_now = self.changes[..if some { due } else { 0 }].iter();
        (due > 0, due_now.filter(move |(_, version, _)| *version > shown).map(|(.., step)| *step))
    }
}

impl Tide<'_> {
    /// Whether a read misses what another process has changed, which is to be seen within `bound`.
    fn check(&self, ledger: &Ledger<'_>, read: &Step, shown: u64, bound: Duration, verdict: &mut Verdict) {
        let began = read.span().began;
        let (promise, since) = match bound {
            Duration::ZERO => (Promise::NotStale, began),
            bound => (Promise::Bounded, began.before(bound + SLACK)),
        };
        let (tried, missed) = self.missed(since, shown);
        if tried {
            verdict.tries(promise);
        }
        let mut excuse = None;
        for change in missed.filter(|change| change.process != read.process) {
            match excuses(ledger, read, change) {
                None => return verdict.take(promise, wrong(ledger, promise, read, change)),
                why => excuse = why,
            }
        }
        if let Some(why) = excuse {
            verdict.take(promise, Finding::Excused(why));
        }
    }
}

impl<'a> Changes<'a> {
    fn of(ledger: &Ledger<'a>, steps: &[&'a Step]) -> Self {
        let (mut others, mut passing, mut own): (Vec<_>, Vec<_>, HashMap<_, Vec<_>>) = Default::default();
        for &step in steps {
            let (version, to) = match step.act {
                Act::Change(version) => (version, &mut others),
                Act::Pass(version) => (version, &mut passing),
                _ => continue,
            };
            if let Some(moment) = ledger.visible(step) {
                to.push((moment, version, step));
            }
            if let Some(call) = step.call()
                && matches!(call.outcome, Outcome::Everywhere | Outcome::Deferred)
            {
                own.entry(step.process).or_default().push((call.ended, version, step));
            }
        }
        let own = own.into_iter().map(|(process, changes)| (process, Tide::of(changes))).collect();
        Self { others: Tide::of(others), passing: Tide::of(passing), own }
    }

    fn check(&self, ledger: &Ledger<'_>, read: &Step, shown: u64, verdict: &mut Verdict) {
        let began = read.span().began;
        let process = ledger.process(read.process);
        if let Some(own) = self.own.get(&read.process) {
            let (tried, mut missed) = own.missed(began, shown);
            if tried {
                verdict.tries(Promise::NotStale);
            }
            if let Some(change) = missed.next() {
                return verdict.take(Promise::NotStale, wrong(ledger, Promise::NotStale, read, change));
            }
        }
        self.others.check(ledger, read, shown, process.bound, verdict);
        self.passing.check(ledger, read, shown, process.passing, verdict);
    }
}

fn excuses(ledger: &Ledger<'_>, read: &Step, change: &Step) -> Option<&'static str> {
    let span = read.span();
    if ledger.is_hidden(read.process, &read.id, span.began, span.ended) {
        return Some("Redis could not be asked");
    }
    if ledger.is_stopped(read.process, span.began, span.began) {
        return Some("before the first tick after a stop");
    }
    is_deposed(ledger, read, change).then_some("a replica without the change took over")
}

/// How long a process may not know that another server is the primary now.
const NOT_TOLD: Duration = Duration::from_millis(1_500);

/// Whether a change may be missing at a server that took over, and was not done again yet, or never by a process that
/// has died since; or at the old one, of which the reader does not know better.
fn is_deposed(ledger: &Ledger<'_>, read: &Step, change: &Step) -> bool {
    let (made, asked) = (change.span(), read.span());
    let deposes = |takes: Takes| takes.deposes;
    if ledger.windows(read.process, asked.began.before(NOT_TOLD), asked.ended, deposes).next().is_some() {
        return true;
    }
    let took_over = ledger.windows(change.process, made.began, Moment(u64::MAX), |takes| takes.deposes);
    let mut lacking = took_over.filter(|window| made.ended.after(BEHIND) >= window.span.began);
    lacking.any(|window| {
        let done_again = window.span.ended.after(REPLAYED);
        let died = ledger.process(change.process).died.is_some_and(|died| died <= done_again);
        read.span().ended >= window.span.began && (died || read.span().began <= done_again)
    })
}

fn wrong(ledger: &Ledger<'_>, promise: Promise, read: &Step, change: &Step) -> Finding {
    let (made, seen) = (change.span(), read.span());
    let late = seen.began.since(ledger.visible(change).unwrap_or(made.ended));
    let what = format!("{late:?} after it had to be seen\n    the change {change:?}\n    is not in {read:?}");
    Finding::Wrong(Violation { promise, what, from: made.began, to: seen.ended })
}

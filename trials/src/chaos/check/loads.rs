//! One load of an id at a time, in all processes, unless something has overtaken the first or there was nobody to ask.

use super::{
    Finding, Promise, Verdict, Violation,
    ledger::{Item, Ledger},
};
use crate::{
    chaos::{
        BUDGET, REPLAYED, WAIT,
        fault::Takes,
        history::{Act, End, Step},
    },
    moment::Moment,
    order::{Load, Outcome},
};

pub(super) fn check(ledger: &Ledger<'_>, verdict: &mut Verdict) {
    for item in ledger.by_id.values() {
        for (at, first) in item.loads.iter().enumerate() {
            verdict.tries(Promise::OneLoad);
            let end = end_of(ledger, first);
            let beside = item.loads[at + 1..].iter().take_while(|(_, second)| second.began < end);
            for second in beside {
                verdict.take(Promise::OneLoad, judge(ledger, item, first, second));
            }
        }
    }
}

/// The process and its load.
type Run<'a> = (usize, &'a Load);

fn end_of(ledger: &Ledger<'_>, (process, load): &Run<'_>) -> Moment {
    load.ended.or(ledger.process(*process).died).unwrap_or(load.began)
}

fn judge(ledger: &Ledger<'_>, item: &Item<'_>, first: &Run<'_>, second: &Run<'_>) -> Finding {
    let leased = [first, second].map(|run| leased(item, run));
    if item.steps.iter().any(|step| overtakes(ledger, step, leased[0], second.1.began)) {
        return Finding::Excused("overtaken by a change");
    }
    for ((process, load), leased) in [first, second].into_iter().zip(leased) {
        let felt = |takes: fn(Takes) -> bool, from: Moment| {
            ledger.windows(*process, from, second.1.began, takes).next().is_some()
        };
        if ledger.is_hidden(*process, &load.id, leased, second.1.began) {
            return Finding::Excused("Redis could not be asked");
        }
        if felt(|takes| takes.forgets, leased.before(REPLAYED)) {
            return Finding::Excused("the server forgot, or was another one");
        }
        if felt(|takes| takes.stops, leased) {
            return Finding::Excused("the holder was stopped");
        }
        if has_waited(item, &(*process, load)) {
            return Finding::Excused("the wait was over");
        }
    }
    let what = format!("at the same time\n    {first:?}\n    {second:?}");
    let (from, to) = (leased[0], second.1.ended.unwrap_or(second.1.began));
    Finding::Wrong(Violation { promise: Promise::OneLoad, what, from, to })
}

/// When the lease of a load was granted, at the earliest: not before somebody asked.
fn leased(item: &Item<'_>, run: &Run<'_>) -> Moment {
    let asked = callers(item, run).map(|step| step.span().began).min();
    asked.unwrap_or_else(|| run.1.began.before(BUDGET))
}

/// Those who wait in the process of a load when it begins.
fn callers<'a>(item: &'a Item<'_>, &(process, load): &Run<'_>) -> impl Iterator<Item = &'a Step> {
    let began = load.began;
    let aboard = move |step: &&&Step| {
        let loads = matches!(step.act, Act::Load | Act::LoadInVain);
        loads && step.process == process && step.span().meets(began, began)
    };
    item.steps.iter().filter(aboard).copied()
}

/// Whether somebody loads who has waited for as long as he wanted to.
fn has_waited(item: &Item<'_>, run: &Run<'_>) -> bool {
    callers(item, run).any(|step| run.1.began.since(step.span().began) >= WAIT)
}

/// Whether a change may have ended the lease that was granted at `leased` before `second`.
fn overtakes(ledger: &Ledger<'_>, step: &Step, leased: Moment, second: Moment) -> bool {
    let span = step.span();
    let deferred = step.call().is_none_or(|call| call.outcome == Outcome::Deferred);
    let last = match &step.end {
        End::Told(_) if !deferred => span.ended,
        // What was on its way is done or lost.
        End::Died(died) => died.after(REPLAYED),
        _ => ledger.visible(step).unwrap_or(span.ended).max(span.ended).after(REPLAYED),
    };
    step.overtakes() && span.began <= second && last >= leased
}

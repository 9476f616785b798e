//! What callers notice: no error but the loader's, no time beyond the budget that no load took, and no call without end.

use std::time::Duration;

use super::{
    Finding, Promise, Verdict, Violation,
    ledger::{Item, Ledger},
};
use crate::{
    chaos::{
        BUDGET, LEASE, LOAD_TIMEOUT, REPLAYED, WAIT,
        fault::Fault,
        history::{Act, End, Span, Step},
    },
    moment::Moment,
    order::{Load, Outcome},
};

/// How much a machine may add that is busy with other things.
const SLACK: Duration = Duration::from_millis(250);

/// The same for what takes long anyway.
const LONG_SLACK: Duration = Duration::from_secs(1);

/// For how long the failure of a load is remembered, and handed on.
const FAILED: Duration = Duration::from_secs(3);

pub(super) fn check(ledger: &Ledger<'_>, verdict: &mut Verdict) {
    for item in ledger.by_id.values() {
        for step in &item.steps {
            ends(ledger, step, verdict);
            errs(item, step, verdict);
            if matches!(step.act, Act::Load | Act::LoadInVain | Act::Read) && step.call().is_some() {
                verdict.tries(Promise::Optional);
                waits(ledger, step, verdict);
            }
        }
    }
}

/// Every call ends within all that it may wait for.
fn ends(ledger: &Ledger<'_>, step: &Step, verdict: &mut Verdict) {
    let (span, most) = (step.span(), most(step.act));
    verdict.tries(Promise::Ending);
    let over = match step.end {
        End::Died(_) => return,
        End::Hung(_) => Duration::MAX,
        End::Told(_) => took(ledger, step).saturating_sub(most),
    };
    if over <= LONG_SLACK {
        return;
    }
    let starved = over < LONG_SLACK + ledger.starved_for(span.began, span.ended);
    verdict.take(
        Promise::Ending,
        if starved {
            Finding::Excused("the machine was busy")
        } else {
            wrong(Promise::Ending, step, &format!("it may take {most:?}"))
        },
    );
}

/// How long a call may take at most.
fn most(act: Act) -> Duration {
    match act {
        // Its flight may wait, load, and be followed by another one.
        Act::Load | Act::LoadInVain | Act::Read => WAIT + LOAD_TIMEOUT + BUDGET * 2,
        // A put asks twice.
        Act::Change(_) | Act::Pass(_) | Act::Expire => BUDGET * 2,
    }
}

/// No caller has an error but its loader's, or that of another's a moment ago.
fn errs(item: &Item<'_>, step: &Step, verdict: &mut Verdict) {
    let Some(call) = step.call() else { return };
    let finding = match &call.outcome {
        Outcome::Failed | Outcome::FailedElsewhere if has_failed(item, step) => return,
        Outcome::Error(text) if text == "Overloaded" => Finding::Excused("too many loads without Redis"),
        Outcome::Failed | Outcome::FailedElsewhere | Outcome::Error(_) => {
            wrong(Promise::Optional, step, "an error of nobody's loader")
        }
        _ => return,
    };
    verdict.take(Promise::Optional, finding);
}

fn has_failed(item: &Item<'_>, step: &Step) -> bool {
    let span = step.span();
    let mut vain = item.steps.iter().filter(|other| other.act == Act::LoadInVain);
    vain.any(|other| other.asked <= span.ended && other.span().ended.after(FAILED) >= span.began)
}

/// No caller waits longer than a budget for anything but loads.
fn waits(ledger: &Ledger<'_>, step: &Step, verdict: &mut Verdict) {
    let span = step.span();
    let items: Vec<_> = ledger.items(step).collect();
    let added = took(ledger, step).saturating_sub(loading(&items, span));
    if added <= BUDGET + SLACK {
        return;
    }
    let finding = if added <= BUDGET + SLACK + ledger.starved_for(span.began, span.ended) {
        Finding::Excused("the machine was busy")
    } else if items.iter().any(|item| waits_for_orphan(ledger, item, step)) {
        Finding::Excused("somebody in trouble had the lease")
    } else {
        wrong(Promise::Optional, step, &format!("{added:?} of it no load ran"))
    };
    verdict.take(Promise::Optional, finding);
}

fn took(ledger: &Ledger<'_>, step: &Step) -> Duration {
    let span = step.span();
    let stopped = ledger.stopped_for(step.process, span.began, span.ended);
    span.ended.since(span.began).saturating_sub(stopped)
}

/// How long at least one load of the ids ran meanwhile.
fn loading(items: &[&Item<'_>], span: Span) -> Duration {
    let mut loads: Vec<&Load> = Vec::new();
    for item in items {
        let begun = item.loads.iter().take_while(|(_, load)| load.began <= span.ended);
        loads.extend(begun.map(|(_, load)| load));
    }
    loads.sort_by_key(|load| load.began);
    let (mut sum, mut until) = (Duration::ZERO, span.began);
    for load in loads {
        let ended = load.ended.unwrap_or(load.began);
        sum += Span { began: load.began.max(until), ended }.within(span.began, span.ended);
        until = until.max(ended);
    }
    sum
}

/// Whether a lease may stand of which nobody could tell that it is over.
fn waits_for_orphan(ledger: &Ledger<'_>, item: &Item<'_>, step: &Step) -> bool {
    let span = step.span();
    let takes_lease = |other: &&&Step| matches!(other.act, Act::Load | Act::LoadInVain | Act::Change(_));
    item.steps.iter().filter(takes_lease).any(|other| {
        let held = other.span();
        let felt = ledger.windows(other.process, held.began.before(BUDGET), held.ended, |takes| {
            takes.hides || takes.stops
        });
        let end = if steps_back(ledger, held.began, span.ended) { WAIT } else { LEASE + REPLAYED };
        let stands = held.began <= span.ended && held.ended.after(end) >= span.began;
        stands && felt.into_iter().next().is_some()
    })
}

/// Whether the server's clock was set back meanwhile, so that all lives are longer.
fn steps_back(ledger: &Ledger<'_>, from: Moment, to: Moment) -> bool {
    ledger.history.strikes.iter().any(|strike| strike.fault == Fault::Back && strike.span.meets(from, to))
}

fn wrong(promise: Promise, step: &Step, why: &str) -> Finding {
    let Span { began, ended } = step.span();
    let what = format!("{why}, in {:?}\n    {step:?}", ended.since(began));
    Finding::Wrong(Violation { promise, what, from: began, to: ended })
}

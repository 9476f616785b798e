//! What is told in the end: what was done, what went wrong, and whether the promises held.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    time::Duration,
};

use super::{
    check::{Promise, Verdict, Violation},
    fault::{Fault, Site},
    history::{End, History, Strike},
    operation,
};
use crate::{moment::Moment, order::Outcome};

/// How long before a violation faults are told of.
const BEFORE: Duration = Duration::from_secs(2);

impl History {
    /// The kinds of faults that did not happen, of those that can at `site`.
    pub fn missing(&self, site: Site) -> Vec<Fault> {
        let happened = |fault: &Fault| self.strikes.iter().any(|strike| strike.fault == *fault);
        Fault::at(site).into_iter().filter(|fault| !happened(fault)).collect()
    }

    /// The whole table.
    ///
    /// # Panics
    ///
    /// Never: text can always be written to.
    pub fn table(&self, verdict: &Verdict) -> String {
        let mut text = String::new();
        self.write(verdict, &mut text).expect("text can be written to");
        text
    }

    fn write(&self, verdict: &Verdict, text: &mut String) -> fmt::Result {
        writeln!(text, "{:<16}{:>8}  answered", "operation", "count")?;
        for operation in operation::TABLE {
            let (count, answers) = self.answers(operation.name);
            writeln!(text, "{:<16}{count:>8}  {answers}", operation.name)?;
        }
        writeln!(text, "{:<16}{:>8}\n", "loads", self.loads.len())?;
        writeln!(text, "{:<16}{:>8}", "fault", "count")?;
        for (name, count) in self.faults() {
            writeln!(text, "{name:<16}{count:>8}")?;
        }
        writeln!(text, "\n{:<16}{:>8}{:>12}  left out by the promise", "promise", "tried", "violations")?;
        for promise in Promise::ALL {
            let tried = verdict.tried.get(&promise).unwrap_or(&0);
            let excused = verdict.excused.iter().filter(|((other, _), _)| *other == promise);
            let excused = excused.map(|((_, why), count)| format!("{why} {count}")).collect::<Vec<_>>();
            let count = verdict.count(promise);
            writeln!(text, "{promise:<16}{tried:>8}{count:>12}  {}", excused.join(", "))?;
        }
        Promise::ALL
            .into_iter()
            .filter_map(|promise| verdict.shortest(promise))
            .try_for_each(|violation| writeln!(text, "\n{}", self.witness(violation)))
    }

    /// A violation, and what went wrong while it came about.
    pub fn witness(&self, violation: &Violation) -> String {
        let Violation { promise, what, from, to } = violation;
        let zero = self.steps.iter().map(|step| step.asked).min().unwrap_or(*from);
        let within = |strike: &&Strike| strike.span.meets(from.before(BEFORE), *to);
        let when = |strike: &Strike| if strike.span.meets(*from, *to) { "meanwhile" } else { "before" };
        let faults = self.strikes.iter().filter(within);
        let faults: String =
            faults.map(|strike| format!("\n    {} {}", when(strike), told(strike, zero))).collect();
        let clocks =
            self.strikes.iter().filter(|strike| strike.fault == Fault::Back && strike.span.began <= *to);
        let clocks: String = clocks.map(|strike| format!("\n    earlier {}", told(strike, zero))).collect();
        let starved: Duration = self.starved.iter().map(|span| span.within(*from, *to)).sum();
        let at = |moment: Moment| moment.since(zero);
        format!(
            "{promise}, from {:?} to {:?}: {what}{faults}{clocks}\n    threads waited for {starved:?}",
            at(*from),
            at(*to)
        )
    }

    fn answers(&self, name: &str) -> (usize, String) {
        let mut answers: BTreeMap<&str, usize> = BTreeMap::new();
        let own: Vec<_> = self.steps.iter().filter(|step| step.name == name).collect();
        for step in &own {
            *answers.entry(word(&step.end)).or_default() += 1;
        }
        let answers = answers.iter().map(|(answer, count)| format!("{answer} {count}")).collect::<Vec<_>>();
        (own.len(), answers.join(", "))
    }

    pub(super) fn faults(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for strike in &self.strikes {
            *counts.entry(strike.fault.facts().name).or_default() += 1;
        }
        counts
    }
}

fn told(strike: &Strike, zero: Moment) -> String {
    let whom = strike.seat.map_or_else(|| "the servers".into(), |seat| format!("seat {seat}"));
    let [began, ended] = [strike.span.began, strike.span.ended].map(|moment| moment.since(zero));
    format!("{} of {whom} from {began:?} to {ended:?}", strike.fault.facts().name)
}

fn word(end: &End) -> &'static str {
    match end {
        End::Died(_) => "killed",
        End::Hung(_) => "nothing",
        End::Told(call) => match call.outcome {
            Outcome::Value { .. } => "a value",
            Outcome::Nothing => "no value",
            Outcome::Failed => "failed",
            Outcome::FailedElsewhere => "failed elsewhere",
            Outcome::Error(_) => "an error",
            Outcome::Everywhere => "everywhere",
            Outcome::Deferred => "deferred",
        },
    }
}

//! What some runs have shown, as a chapter of Markdown.

use std::{
    fmt::{self, Write},
    time::Duration,
};

use super::{
    check::{Promise, Verdict},
    fault::Site,
    history::History,
};
use crate::order::Subject;

/// One run, and what is known of it in the end.
#[derive(Debug)]
pub struct Run {
    /// Whose cache it was.
    pub subject: Subject,
    /// On which servers.
    pub site: Site,
    /// From which seed.
    pub seed: u64,
    /// For how long.
    pub length: Duration,
    /// What happened.
    pub history: History,
    /// Whether that was allowed.
    pub verdict: Verdict,
}

impl Run {
    /// Whether every promise held, and everything that can go wrong did.
    pub fn held(&self) -> bool {
        self.verdict.violations.is_empty() && self.history.missing(self.site).is_empty()
    }

    fn broken(&self, promise: Promise) -> String {
        let tried = self.verdict.tried.get(&promise).unwrap_or(&0);
        format!("{} of {tried}", self.verdict.count(promise))
    }
}

/// The chapter: Forebay's own runs, then all subjects beside each other.
///
/// # Panics
///
/// Never: text can always be written to.
pub fn report(runs: &[Run]) -> String {
    let mut text = String::from("## Chaos\n");
    let own = runs.iter().filter(|run| run.subject == Subject::Forebay);
    own.clone().try_for_each(|run| topology(run, &mut text)).expect("text can be written to");
    if own.count() < runs.len() {
        subjects(runs, &mut text).expect("text can be written to");
    }
    text
}

fn topology(run: &Run, text: &mut String) -> fmt::Result {
    let Run { history, verdict, .. } = run;
    writeln!(text, "\n### {}, {}\n", place(run.site), length(run))?;
    let faults = history.faults();
    writeln!(
        text,
        "{} operations, {} loads, {} faults: {}.\n",
        history.steps.len(),
        history.loads.len(),
        faults.values().sum::<usize>(),
        list(faults.iter())
    )?;
    writeln!(text, "| promise | looked at | broken | left out by the promise |\n|---|---:|---:|---|")?;
    for promise in Promise::ALL {
        let tried = verdict.tried.get(&promise).unwrap_or(&0);
        let excused = verdict.excused.iter().filter(|((other, _), _)| *other == promise);
        let excused = list(excused.map(|((_, why), count)| (why, count)));
        writeln!(text, "| {promise} | {tried} | {} | {excused} |", verdict.count(promise))?;
    }
    Ok(())
}

fn subjects(runs: &[Run], text: &mut String) -> fmt::Result {
    writeln!(text, "\n### Beside others, over one server: how often each promise was broken\n")?;
    writeln!(
        text,
        "The same operations and faults for all, of how many times each promise was looked at. Most of"
    )?;
    writeln!(text, "the others promise less: a number says what a program has to expect that uses them.\n")?;
    let promises = Promise::ALL.map(|promise| promise.to_string()).join(" | ");
    writeln!(text, "| whose cache | operations | {promises} |")?;
    writeln!(text, "|---|---:{}|", "|---:".repeat(Promise::ALL.len()))?;
    for run in runs.iter().filter(|run| run.site == Site::One) {
        let broken = Promise::ALL.map(|promise| run.broken(promise)).join(" | ");
        let (name, operations) = (name(run.subject), run.history.steps.len());
        writeln!(text, "| {name} | {operations} | {broken} |")?;
    }
    Ok(())
}

fn list<'a>(counts: impl Iterator<Item = (&'a &'static str, &'a usize)>) -> String {
    counts.map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

fn length(run: &Run) -> String {
    format!("{:.1} minutes, seed {}", run.length.as_secs_f64() / 60.0, run.seed)
}

fn place(site: Site) -> &'static str {
    match site {
        Site::One => "One server",
        Site::Cluster => "A cluster of three primaries with a replica each",
        Site::Sentinels => "A primary with two replicas under three sentinels",
    }
}

fn name(subject: Subject) -> &'static str {
    match subject {
        Subject::Forebay => "Forebay",
        Subject::Naive => "by hand: `GET`, `SET`, `DEL`, and a map for a second",
        Subject::Moka => "Rust `moka` before the same",
        Subject::Cashews => "Python `cashews`",
        Subject::Bentocache => "Node `bentocache`",
        Subject::Hitbox => "Rust `hitbox`: `moka` before Redis",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{chaos::check::Violation, moment::Moment};

    fn run(subject: Subject, site: Site, broken: usize) -> Run {
        let violation =
            Violation { promise: Promise::NotStale, what: String::new(), from: Moment(0), to: Moment(1) };
        let verdict = Verdict {
            violations: vec![violation; broken],
            tried: [(Promise::NotStale, 70)].into(),
            excused: [((Promise::OneLoad, "overtaken by a change"), 5)].into(),
        };
        let length = Duration::from_mins(10);
        Run { subject, site, seed: 7, length, history: History::default(), verdict }
    }

    #[test]
    fn each_run_of_forebay_has_a_table_and_all_subjects_have_one_together() {
        let ours = [Site::One, Site::Cluster].map(|site| run(Subject::Forebay, site, 0));
        let alone = report(&ours);
        assert!(alone.contains("### One server, 10.0 minutes, seed 7\n"), "{alone}");
        assert!(alone.contains("| P2 one load | 0 | 0 | overtaken by a change 5 |\n"), "{alone}");
        assert!(alone.contains("| P3 not stale | 70 | 0 |  |\n") && !alone.contains("Beside"), "{alone}");
        let beside = report(&ours.into_iter().chain([run(Subject::Moka, Site::One, 2)]).collect::<Vec<_>>());
        assert!(beside.contains("| Forebay | 0 | 0 of 0 | 0 of 0 | 0 of 70 |"), "{beside}");
        assert!(
            beside.contains("| Rust `moka` before the same | 0 | 0 of 0 | 0 of 0 | 2 of 70 |"),
            "{beside}"
        );
    }
}

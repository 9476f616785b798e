//! `cargo xtask bugs`: puts one bug after the other into a copy of the library, and looks whether chaos finds it.
//!
//! The library itself has none of this: what a bug is stands in a table of texts to be replaced.

mod copy;
mod table;

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, ensure};

use self::table::{BUGS, Bug};
use crate::{
    process::{self, Group},
    root,
};

/// A copy of the sources, and beside it what is built of them.
const FOLDER: &str = "target/bugs";

/// How many short runs a bug may stay hidden in: some show only where chance has it.
const RUNS: u64 = 4;

const BINS: [&str; 6] = ["build", "--quiet", "--package", "forebay-trials", "--bins", "--locked"];

/// What became of one bug.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// The promises that were seen broken, one that the bug breaks among them.
    Found(Vec<String>),
    /// The promises that were seen broken, if any.
    NotFound(Vec<String>),
}

/// Tries the bugs whose names contain `only`, each for so long.
pub(crate) fn run(only: &str, minutes: f64, seed: u64) -> Result<ExitCode> {
    let chosen: Vec<&Bug> = BUGS.iter().filter(|bug| bug.name.contains(only)).collect();
    ensure!(!chosen.is_empty(), "no bug has a name with {only:?} in it; there are {}", names().join(", "));
    let mut lines = Vec::new();
    for bug in &chosen {
        println!("==> {}", bug.name);
        let fate = fate(bug, minutes, seed).with_context(|| format!("{} could not be tried", bug.name))?;
        lines.push((line(bug, &fate), matches!(fate.1, Fate::Found(_))));
        println!("<== {}", lines[lines.len() - 1].0);
    }
    let found = lines.iter().filter(|(_, found)| *found).count();
    println!();
    lines.iter().for_each(|(line, _)| println!("{line}"));
    println!("{found} of {} bugs found", chosen.len());
    Ok(if found == chosen.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn names() -> Vec<&'static str> {
    BUGS.iter().map(|bug| bug.name).collect()
}

fn line(bug: &Bug, (run, fate): &(u64, Fate)) -> String {
    let (word, promises) = match fate {
        Fate::Found(promises) => ("found", promises),
        Fate::NotFound(others) => ("NOT FOUND", others),
    };
    format!("{:<44} {word:<9} in {run} of {RUNS} runs: {}", bug.name, promises.join(", "))
}

/// Plays with one seed after the other until the bug is found, and says in which run it was.
fn fate(bug: &Bug, minutes: f64, seed: u64) -> Result<(u64, Fate)> {
    build(bug)?;
    let mut last = Fate::NotFound(Vec::new());
    for run in 1..=RUNS {
        last = play(bug, minutes, seed + run - 1)?;
        if matches!(last, Fate::Found(_)) {
            return Ok((run, last));
        }
    }
    Ok((RUNS, last))
}

fn build(bug: &Bug) -> Result<()> {
    let source = root().join(FOLDER).join("source");
    copy::mirror(root(), &source, &|path, text| bug.put_into(path, text))?;
    let build = Group::spawn(cargo(&source).args(BINS))?.wait()?;
    ensure!(build.success(), "it does not compile");
    Ok(())
}

fn play(bug: &Bug, minutes: f64, seed: u64) -> Result<Fate> {
    let mut chaos = Command::new(built().join("debug/forebay-chaos"));
    chaos.args(["--topology", bug.topology, "--minutes", &minutes.to_string(), "--seed", &seed.to_string()]);
    let (group, lines) = Group::spawn_reading(chaos, |_| ())?;
    let told: Vec<String> = lines.iter().collect();
    group.wait()?;
    let log = root().join(FOLDER).join(format!("{}.txt", bug.name.replace(' ', "-")));
    fs::write(&log, told.join("\n")).with_context(|| format!("{} cannot be written", log.display()))?;
    Ok(judge(bug.breaks, told.iter().filter_map(|line| broken(line)).collect()))
}

/// What is broken without being the bug's doing is no sign of it.
fn judge(breaks: &[&str], broken: Vec<String>) -> Fate {
    let is_its_own = |promise: &String| breaks.iter().any(|own| promise.starts_with(own));
    if broken.iter().any(is_its_own) { Fate::Found(broken) } else { Fate::NotFound(broken) }
}

/// The promise of a line of the table, if it was broken.
fn broken(line: &str) -> Option<String> {
    let mut words = line.get(16..)?.split_whitespace();
    let broken = words.nth(1)?.parse::<u64>().is_ok_and(|count| count > 0);
    (broken && line.starts_with('P')).then(|| line[..16].trim().to_owned())
}

fn cargo(source: &PathBuf) -> Command {
    let mut cargo = process::cargo();
    cargo.current_dir(source).env("CARGO_TARGET_DIR", built());
    cargo
}

fn built() -> PathBuf {
    root().join(FOLDER).join("built")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_promise_suffers_is_no_sign_of_a_bug() {
        let broken = |promise: &str| vec![promise.to_owned()];
        assert_eq!(judge(&["P4"], broken("P4 bounded")), Fate::Found(broken("P4 bounded")));
        assert_eq!(judge(&["P4"], broken("P2 one load")), Fate::NotFound(broken("P2 one load")));
        assert_eq!(judge(&["P4"], vec![]), Fate::NotFound(vec![]));
    }

    #[test]
    fn a_broken_promise_is_read_from_the_table() {
        let line = |count| format!("P3 not stale        6917{count:>12}  Redis could not be asked 7");
        assert_eq!(broken(&line(3)), Some("P3 not stale".into()));
        assert_eq!(broken(&line(0)), None);
        assert_eq!(broken("load                 742  a value 700, killed 42"), None);
    }
}

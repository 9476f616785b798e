//! `cargo xtask bugs`: puts one bug after the other into a copy of the library, and looks whether chaos finds it.
//!
//! The library itself has none of this: what a bug is stands in a table of texts to be replaced.

mod copy;
mod table;

use std::{
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

const BINS: [&str; 6] = ["build", "--quiet", "--package", "forebay-trials", "--bins", "--locked"];

/// What became of one bug.
enum Fate {
    /// The promises that were seen broken.
    Found(Vec<String>),
    NotFound,
}

/// Tries the bugs whose names contain `only`, each for so long.
pub(crate) fn run(only: &str, minutes: f64, seed: u64) -> Result<ExitCode> {
    let chosen: Vec<&Bug> = BUGS.iter().filter(|bug| bug.name.contains(only)).collect();
    ensure!(!chosen.is_empty(), "no bug has a name with {only:?} in it; there are {}", names().join(", "));
    let mut lines = Vec::new();
    for bug in &chosen {
        println!("==> {}", bug.name);
        let fate = fate(bug, minutes, seed).with_context(|| format!("{} could not be tried", bug.name))?;
        lines.push((line(bug, &fate), matches!(fate, Fate::Found(_))));
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

fn line(bug: &Bug, fate: &Fate) -> String {
    match fate {
        Fate::Found(promises) => format!("{:<44} found     {}", bug.name, promises.join(", ")),
        Fate::NotFound => format!("{:<44} NOT FOUND", bug.name),
    }
}

fn fate(bug: &Bug, minutes: f64, seed: u64) -> Result<Fate> {
    let source = root().join(FOLDER).join("source");
    copy::mirror(root(), &source, &|path, text| bug.put_into(path, text))?;
    let build = Group::spawn(cargo(&source).args(BINS))?.wait()?;
    ensure!(build.success(), "it does not compile");
    let mut chaos = Command::new(built().join("debug/forebay-chaos"));
    chaos.args(["--topology", bug.topology, "--minutes", &minutes.to_string(), "--seed", &seed.to_string()]);
    let (group, lines) = Group::spawn_reading(chaos, |_| ())?;
    let broken = lines.iter().filter_map(|line| broken(&line)).collect();
    Ok(if group.wait()?.success() { Fate::NotFound } else { Fate::Found(broken) })
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
    fn a_broken_promise_is_read_from_the_table() {
        let line = |count| format!("P3 not stale        6917{count:>12}  Redis could not be asked 7");
        assert_eq!(broken(&line(3)), Some("P3 not stale".into()));
        assert_eq!(broken(&line(0)), None);
        assert_eq!(broken("load                 742  a value 700, killed 42"), None);
    }
}

//! `cargo xtask chaos`: several processes over stores that fail in every way known, and whether the cache keeps its
//! promises.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    process::{self, Group},
    root,
    test::Outcome,
    totals::Totals,
};

const PACKAGE: [&str; 3] = ["--locked", "--package", "forebay-trials"];

/// Half a minute on each topology fits in a test run.
const SHORT: [&str; 2] = ["--minutes", "0.5"];

/// Each counts as one test.
const TOPOLOGIES: [&str; 3] = ["one", "cluster", "sentinel"];

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    Ok(if builds()? && plays(args)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) fn short() -> Result<Outcome> {
    if !builds()? {
        return Ok(Outcome::Failed(Totals::FAILED));
    }
    let mut totals = Totals::default();
    for topology in TOPOLOGIES {
        let args = [&SHORT[..], &["--topology", topology]].concat();
        totals += if plays(&args)? { Totals::PASSED } else { Totals::FAILED };
    }
    Ok(if totals.failed == 0 { Outcome::Passed(totals) } else { Outcome::Failed(totals) })
}

/// The processes of a trial are a program of their own.
fn builds() -> Result<bool> {
    let mut build = process::cargo();
    build.arg("build").args(PACKAGE).args(["--bins", "--quiet"]);
    Ok(Group::spawn(build.current_dir(root()))?.wait()?.success())
}

fn plays<S: AsRef<str>>(args: &[S]) -> Result<bool> {
    let mut chaos = process::cargo();
    chaos.args(["run", "--quiet"]).args(PACKAGE).args(["--bin", "forebay-chaos", "--"]);
    chaos.args(args.iter().map(AsRef::as_ref));
    Ok(Group::spawn(chaos.current_dir(root()))?.wait()?.success())
}

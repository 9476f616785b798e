//! `cargo xtask soak`: mixed load in several processes over a Redis of their own, until the time is over.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    process::{self, Group},
    root,
    test::Outcome,
    totals::Totals,
};

const PACKAGE: [&str; 3] = ["--locked", "--package", "forebay-trials"];

/// Fits in a test run.
const SHORT: f64 = 0.5;

pub(crate) fn run(minutes: f64) -> Result<ExitCode> {
    Ok(if soak(minutes)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Counts as one test.
pub(crate) fn short() -> Result<Outcome> {
    Ok(if soak(SHORT)? { Outcome::Passed(Totals::PASSED) } else { Outcome::Failed(Totals::FAILED) })
}

fn soak(minutes: f64) -> Result<bool> {
    let mut build = process::cargo();
    build.arg("build").args(PACKAGE).args(["--bins", "--quiet"]);
    let mut soak = process::cargo();
    soak.args(["run", "--quiet"]).args(PACKAGE).args(["--bin", "forebay-soak", "--"]);
    soak.args(["--minutes", &minutes.to_string()]);
    let succeeds = |mut cargo: std::process::Command| -> Result<bool> {
        Ok(Group::spawn(cargo.current_dir(root()))?.wait()?.success())
    };
    Ok(succeeds(build)? && succeeds(soak)?)
}

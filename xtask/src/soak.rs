//! `cargo xtask soak`: mixed load in several processes over a Redis of their own, until the time is over; then
//! 10,000 calls of the server, and the coach under load while its model fails for a minute.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::{
    process::{self, Group},
    root, schema,
    test::{self, Outcome},
    totals::Totals,
};

const PACKAGE: [&str; 3] = ["--locked", "--package", "forebay-trials"];

/// Fits in a test run.
const SHORT: f64 = 0.5;

pub(crate) fn run(minutes: f64) -> Result<ExitCode> {
    Ok(if soak(minutes)? && schema::long()? && coach()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
    Ok(succeeds(build)? && succeeds(soak)?)
}

fn coach() -> Result<bool> {
    let mut faults = process::cargo();
    faults.args(["test", "--locked", "--package", "coach", "--test", "http", "faults::"]);
    faults.env("COACH_FAULTS_LONG", "1").current_dir(root());
    Ok(matches!(test::count(faults)?, Outcome::Passed(_)))
}

fn succeeds(mut cargo: Command) -> Result<bool> {
    Ok(Group::spawn(cargo.current_dir(root()))?.wait()?.success())
}

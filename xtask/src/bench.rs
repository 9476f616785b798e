//! `cargo xtask bench`: starts the benchmark program of the workspace in `bench/`.

use std::process::ExitCode;

use anyhow::Result;

use crate::{process, root};

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let mut bench = process::cargo();
    bench.args(["run", "--release", "--manifest-path", "bench/Cargo.toml", "--"]).args(args);
    let status = process::Group::spawn(bench.current_dir(root()))?.wait()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

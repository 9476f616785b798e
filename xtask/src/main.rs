//! The project's own commands: `cargo xtask test`, `bench`, `soak`, `chaos`, `bugs` and `ops`.

mod bench;
mod bugs;
mod cases;
mod chaos;
mod openapi;
mod ops;
mod packages;
mod page;
mod process;
mod readme;
mod schema;
mod soak;
mod test;
mod totals;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, disable_help_subcommand = true)]
enum Command {
    /// Runs everything that CI runs and prints the totals.
    Test {
        /// Only lists the steps.
        #[arg(long)]
        list: bool,
        /// Runs only these steps, and the first.
        #[arg(value_name = "STEP")]
        only: Vec<String>,
    },
    /// Runs the side-by-side benchmarks of `bench/`; further arguments go to them.
    Bench {
        /// The arguments of the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Loads several processes over one Redis, and looks whether anything grows; then calls the server 10,000
    /// times, and has the coach's model fail under load.
    Soak {
        /// For how long; from five on, Redis fails now and then.
        #[arg(long, default_value_t = 30.0)]
        minutes: f64,
    },
    /// Has processes and servers fail in every way known, and looks whether the cache keeps its promises; `--help` after
    /// `--` tells of the arguments.
    Chaos {
        /// The arguments of the trial: `--minutes`, `--seed`, `--topology`, `--subject`, `--report`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Puts one bug after the other into a copy of the library, and looks whether chaos finds it.
    Bugs {
        /// Only those with this in their names.
        #[arg(default_value = "")]
        only: String,
        /// How long a run is, of which each bug has up to four.
        #[arg(long, default_value_t = 0.5)]
        minutes: f64,
        /// The seed of the first run; the next one has the next.
        #[arg(long, default_value_t = 7)]
        seed: u64,
    },
    /// Writes anew what is made of the code: the Grafana board and the alert rules, and the OpenAPI document.
    Ops,
}

fn main() -> ExitCode {
    let done = process::end_on_interrupt().and_then(|()| match Command::parse() {
        Command::Test { list: true, .. } => Ok(test::list()),
        Command::Test { list: false, only } => test::run(&only),
        Command::Bench { args } => bench::run(&args),
        Command::Soak { minutes } => soak::run(minutes),
        Command::Chaos { args } => chaos::run(&args),
        Command::Bugs { only, minutes, seed } => bugs::run(&only, minutes, seed),
        Command::Ops => ops::run(),
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the workspace")
}

/// Where cargo builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

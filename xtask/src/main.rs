//! The project's own commands: `cargo xtask test` and `cargo xtask bench`.

mod bench;
mod packages;
mod process;
mod readme;
mod test;
mod totals;

use std::{path::Path, process::ExitCode};

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, disable_help_subcommand = true)]
enum Command {
    /// Runs everything that CI runs and prints the totals.
    Test {
        /// Only lists the steps.
        #[arg(long)]
        list: bool,
    },
    /// Runs the side-by-side benchmarks of `bench/`; further arguments go to them.
    Bench {
        /// The arguments of the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = process::end_on_interrupt().and_then(|()| match Command::parse() {
        Command::Test { list: true } => Ok(test::list()),
        Command::Test { list: false } => test::run(),
        Command::Bench { args } => bench::run(&args),
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root of the workspace")
}

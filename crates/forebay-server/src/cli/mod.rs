//! The command line: one file per verb.
//!
//! `output.rs` is how all of them tell what they have found, `client.rs` how they ask a server that runs. A verb returns
//! a [`Verdict`], which is the exit code, or a [`Failure`], whose message goes to standard error.

mod announce;
mod bench;
mod client;
mod completions;
mod config;
mod demo;
mod doctor;
mod ids;
mod inspect;
mod invalidate;
mod latencies;
mod leases;
mod leash;
mod openapi;
mod origin;
mod output;
mod serve;
mod signals;
mod stopwatch;
mod top;
mod unlock;
mod warm;
mod words;

use std::{fmt, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};

use crate::config::{ConfigError, Flags};

/// The settings, and what ends with which exit code.
const AFTER_HELP: &str = "Without a verb it serves. `forebay help VERB` has the flags of each.

Exit codes: 0 all is well; 1 what was asked about is not well, or could not be done; 2 wrong usage or settings.";

#[derive(Debug, Parser)]
#[command(name = "forebay", version, about = "An acceleration layer for APIs", after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten, next_help_heading = "Flags of serve")]
    flags: Flags,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs the server; what `forebay` alone does too
    Serve(Flags),
    Demo(demo::Demo),
    Doctor(doctor::Doctor),
    #[command(subcommand)]
    Config(config::Verb),
    Inspect(inspect::Inspect),
    Invalidate(invalidate::Invalidate),
    Unlock(unlock::Unlock),
    Warm(warm::Warm),
    Top(top::Top),
    #[command(subcommand)]
    Bench(bench::Verb),
    Openapi(openapi::Openapi),
    Completions(completions::Completions),
    Leash(leash::Leash),
}

/// How it stands with what was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// All is well: exit code 0.
    Well,
    /// Something is not, as was told: exit code 1.
    Unwell,
}

/// Why the program ends early.
#[derive(Debug)]
enum Failure {
    /// Something that was typed, or a setting, cannot be used: exit code 2, as for a flag that is unknown.
    Usage(String),
    /// That is fine, and the machine, or a server, is not: exit code 1.
    Undone(String),
    /// Nobody reads what it goes on to tell: it has done its work, and ends with exit code 0.
    Unheard,
}

/// Runs the verb that the command line names.
pub(crate) fn main() -> ExitCode {
    let mut program = Cli::command();
    let matches = program.get_matches_mut();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut program).exit());
    let flags = Flags::read(&matches);
    if !cli.reads_settings() && !flags.typed().is_empty() {
        let why = format!("{} before the verb is for `forebay serve`, and does nothing here", flags.typed());
        program.error(ErrorKind::ArgumentConflict, why).exit();
    }
    match run(cli.verb, flags) {
        Ok(Verdict::Well) | Err(Failure::Unheard) => ExitCode::SUCCESS,
        Ok(Verdict::Unwell) => ExitCode::FAILURE,
        Err(Failure::Usage(message)) => complain(&message, ExitCode::from(2)),
        Err(Failure::Undone(message)) => complain(&message, ExitCode::FAILURE),
    }
}

impl Cli {
    fn reads_settings(&self) -> bool {
        matches!(self.verb, None | Some(Verb::Serve(_) | Verb::Config(_) | Verb::Doctor(_)))
    }
}

fn run(verb: Option<Verb>, flags: Flags) -> Result<Verdict, Failure> {
    match verb {
        Some(Verb::Serve(_)) | None => serve::run(flags),
        Some(Verb::Demo(verb)) => verb.run(),
        Some(Verb::Doctor(verb)) => verb.run(flags),
        Some(Verb::Config(verb)) => verb.run(flags),
        Some(Verb::Inspect(verb)) => verb.run(),
        Some(Verb::Invalidate(verb)) => verb.run(),
        Some(Verb::Unlock(verb)) => verb.run(),
        Some(Verb::Warm(verb)) => verb.run(),
        Some(Verb::Top(verb)) => verb.run(),
        Some(Verb::Bench(verb)) => verb.run(),
        Some(Verb::Openapi(verb)) => verb.run(),
        Some(Verb::Completions(verb)) => verb.run(&mut Cli::command()),
        Some(Verb::Leash(verb)) => verb.run().map(|never| match never {}),
    }
}

/// Runs a verb that only asks and waits.
fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Undone(format!("cannot start: {error}")))?.block_on(work)
}

fn complain(message: &str, code: ExitCode) -> ExitCode {
    output::remark(&format!("forebay: {message}"));
    code
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Undone(message) => f.write_str(message),
            Self::Unheard => f.write_str("nobody reads the output"),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.to_string())
    }
}

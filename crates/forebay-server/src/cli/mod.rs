//! The command line: one file per verb.

mod announce;
mod serve;
mod signals;

use std::{fmt, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::config::{ConfigError, Flags};

#[derive(Debug, Parser)]
#[command(name = "forebay", version, about = "An acceleration layer for APIs")]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    flags: Flags,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Runs the server; what `forebay` alone does too
    Serve,
}

/// Why the program ends early.
#[derive(Debug)]
enum Failure {
    /// A setting cannot be used: exit code 2, as for a flag that is unknown.
    Config(String),
    /// The settings are fine, the machine is not: exit code 1.
    Start(String),
}

/// Runs the verb that the command line names.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.verb {
        Some(Verb::Serve) | None => serve::run(cli.flags),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("forebay: {failure}");
            failure.code()
        }
    }
}

impl Failure {
    fn code(&self) -> ExitCode {
        match self {
            Self::Config(_) => ExitCode::from(2),
            Self::Start(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(message) | Self::Start(message) => f.write_str(message),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}

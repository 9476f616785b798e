//! Programs that a verb starts, and that end with it, however it ends.

use std::{
    ffi::OsString,
    io,
    os::unix::process::{CommandExt, parent_id},
    process::Command,
};

use clap::Args;
use nix::sys::{prctl::set_pdeathsig, signal::Signal};

use super::Failure;

/// How this program is called to become another one on a leash.
const VERB: &str = "leash";

/// Becomes another program, which the kernel kills when the thread ends that has started this one
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Leash {
    /// The process that must be there still
    parent: u32,

    program: OsString,

    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// A command for `program`, which dies with the thread that spawns it.
pub(super) fn leashed(program: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([VERB, &std::process::id().to_string(), program]);
    Ok(command)
}

impl Leash {
    /// Does not return unless the program cannot be started.
    pub(super) fn run(&self) -> Result<std::convert::Infallible, Failure> {
        let refuse = |why: String| Failure::Undone(format!("cannot start {}: {why}", self.program.display()));
        set_pdeathsig(Signal::SIGKILL).map_err(|error| refuse(error.to_string()))?;
        if parent_id() != self.parent {
            return Err(refuse("whoever wanted it is gone".to_owned()));
        }
        Err(refuse(Command::new(&self.program).args(&self.arguments).exec().to_string()))
    }
}

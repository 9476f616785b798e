//! `forebay completions`: what a shell reads to complete the command line.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::{Failure, Verdict, output::print};

/// Prints what a shell needs to complete verbs and flags
///
/// For bash: `source <(forebay completions bash)`, for zsh and fish likewise.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, program: &mut Command) -> Result<Verdict, Failure> {
        let mut script = Vec::new();
        generate(self.shell, program, "forebay", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Verdict::Well)
    }
}

//! The shells that run the blocks: one session for all, and one of its own for each block in the background.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use super::{block::Block, expect};
use crate::{
    process::{self, Group},
    root,
};

/// How long one block may take. It may have to compile the workspace in release mode.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// How long a background block may take, once it has printed the awaited words, to print all that is shown.
const AFTERWARDS: Duration = Duration::from_secs(10);
const END: &str = "readme-test-end";

/// A shell that keeps its variables from block to block and ends with the first command that fails.
#[derive(Debug)]
pub(super) struct Session {
    lines: Receiver<String>,
    commands: ChildStdin,
    scratch: PathBuf,
    _bash: Group,
}

impl Session {
    /// `scratch` holds the scripts of the blocks, and is their `TMPDIR`.
    pub(super) fn start(scratch: &Path) -> Result<Self> {
        let mut bash = bash(&["-e", "-o", "pipefail"], scratch);
        let mut bash = Group::spawn(bash.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let mut commands = bash.stdin().context("the shell has a standard input")?;
        writeln!(commands, "trap 'code=$?; echo; echo {END} $code' EXIT")?;
        Ok(Self { lines: bash.lines(show), commands, scratch: scratch.into(), _bash: bash })
    }

    /// Writes a block to a file whose name appears in the shell's messages.
    pub(super) fn script(&self, block: &Block) -> Result<PathBuf> {
        let file = self.scratch.join(format!("line-{}", block.line));
        fs::write(&file, &block.script)?;
        Ok(file)
    }

    /// Runs a block and returns what it wrote to standard output.
    pub(super) fn run(&mut self, block: &Block) -> Result<String> {
        let script = self.script(block)?;
        writeln!(self.commands, "source '{}' </dev/null; echo; echo {END} 0", script.display())?;
        let mut output = String::new();
        let started = process::now();
        loop {
            let line = next(&self.lines, started, PATIENCE)?.context("the shell is gone")?;
            match line.strip_prefix(END) {
                Some(" 0") => return Ok(output),
                Some(code) => bail!("a command failed with exit code{code}"),
                None => output.extend([&line, "\n"]),
            }
        }
    }
}

/// Runs a script in the background and comes back once it has printed `until` and what the page shows.
pub(super) fn serve(script: &Path, until: &str, shown: Option<&str>) -> Result<Group> {
    let bash = bash(&["-e", &script.to_string_lossy()], script.parent().unwrap_or(script));
    let (server, lines) = Group::spawn_reading(bash, |line| println!("    | {line}"))?;
    let mut output = String::new();
    read_until(&lines, &mut output, PATIENCE, until, |output| output.contains(until))?;
    if let Some(shown) = shown {
        read_until(&lines, &mut output, AFTERWARDS, shown, |output| expect::contains(shown, output))?;
    }
    Ok(server)
}

fn read_until(
    lines: &Receiver<String>,
    output: &mut String,
    patience: Duration,
    what: &str,
    found: impl Fn(&str) -> bool,
) -> Result<()> {
    let started = process::now();
    while !found(output) {
        let line = next(lines, started, patience).with_context(|| format!("it has not printed:\n{what}"))?;
        output.extend([&line.with_context(|| format!("it ended without printing:\n{what}"))?, "\n"]);
    }
    Ok(())
}

fn bash(args: &[&str], scratch: &Path) -> Command {
    let mut bash = process::command("bash");
    bash.args(["--noprofile", "--norc"])
        .args(args)
        .env("TMPDIR", scratch)
        .current_dir(root())
        .stdin(Stdio::null());
    bash
}

fn show(line: &str) {
    if !line.starts_with(END) {
        println!("    {line}");
    }
}

/// The next line, or `None` at the end of the output.
fn next(lines: &Receiver<String>, started: Instant, patience: Duration) -> Result<Option<String>> {
    match lines.recv_timeout(patience.saturating_sub(started.elapsed())) {
        Ok(line) => Ok(Some(line)),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
        Err(RecvTimeoutError::Timeout) => bail!("not done after {} s", patience.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readme::block;

    #[test]
    fn a_session_keeps_its_variables() {
        let blocks = block::parse("```sh\nlease=17\n```\n```sh\nprintf \"%s\" $lease; cat\n```").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let mut session = Session::start(scratch.path()).unwrap();
        assert_eq!(session.run(&blocks[0]).unwrap().trim(), "");
        assert_eq!(session.run(&blocks[1]).unwrap().trim(), "17");
    }

    #[test]
    fn a_session_ends_with_the_first_command_that_fails() {
        let blocks = block::parse("```sh\nfalse\ntouch \"$TMPDIR/went-on\"\n```").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let mut session = Session::start(scratch.path()).unwrap();
        assert!(session.run(&blocks[0]).unwrap_err().to_string().contains("exit code 1"));
        assert!(!scratch.path().join("went-on").exists());
    }

    #[test]
    fn a_server_that_ends_early_is_a_failure() {
        let scratch = tempfile::tempdir().unwrap();
        let script = scratch.path().join("script");
        fs::write(&script, "echo starting; false; echo listens on").unwrap();
        assert!(serve(&script, "listens on", None).is_err());
    }

    #[test]
    fn a_server_serves_once_it_has_printed_what_is_shown() {
        let scratch = tempfile::tempdir().unwrap();
        let script = scratch.path().join("script");
        fs::write(&script, "echo listens on 7340; echo try it >&2; exec sleep 600").unwrap();
        assert!(serve(&script, "listens on", Some("listens on …\ntry it\n")).is_ok());
    }
}

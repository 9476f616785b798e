//! Child processes that leave nothing behind: each leads a process group of its own, which ends with it.

use std::{
    env,
    io::{self, BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    process::{self, Child, ChildStdin, Command, ExitStatus},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

/// How long a group may take to end before it is killed: the server's own shutdown fits in.
const GRACE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// A child with all its descendants. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Child,
}

impl Group {
    pub(crate) fn spawn(command: &mut Command) -> Result<Self> {
        let mut running = running();
        let spawned = command.process_group(0).spawn();
        let leader = spawned.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        running.push(pid(&leader));
        Ok(Self { leader })
    }

    /// Waits for the child, then ends what it left running.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.leader.wait()
    }

    pub(crate) fn stdin(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    /// Starts a command and reads what it prints, its errors included and in order.
    pub(crate) fn spawn_reading(mut command: Command, show: fn(&str)) -> Result<(Self, Receiver<String>)> {
        let (output, writer) = io::pipe()?;
        let group = Self::spawn(command.stdout(writer.try_clone()?).stderr(writer))?;
        Ok((group, lines(output, show)))
    }

    /// The lines of a piped standard output.
    pub(crate) fn lines(&mut self, show: fn(&str)) -> Receiver<String> {
        lines(self.leader.stdout.take().expect("the standard output is piped and taken once"), show)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let group = pid(&self.leader);
        if !gone(group, &mut self.leader, Signal::SIGTERM, GRACE) {
            gone(group, &mut self.leader, Signal::SIGKILL, Duration::from_secs(1));
        }
        running().retain(|other| *other != group);
    }
}

/// Ends every running group when this process is interrupted or terminated.
pub(crate) fn end_on_interrupt() -> Result<()> {
    ctrlc::set_handler(|| {
        let groups = running();
        signal(&groups, Signal::SIGTERM);
        thread::sleep(Duration::from_secs(1));
        signal(&groups, Signal::SIGKILL);
        process::exit(130);
    })
    .context("cannot listen for Ctrl-C")
}

/// A command without the settings of a server, and without what cargo tells this program about itself.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if ["FOREBAY_", "CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

pub(crate) fn cargo() -> Command {
    command(&env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
}

#[expect(clippy::disallowed_methods, reason = "steps are timed by the machine's clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

fn gone(group: Pid, leader: &mut Child, with: Signal, patience: Duration) -> bool {
    signal(&[group], with);
    let started = now();
    while started.elapsed() < patience {
        // A leader that has ended keeps its group alive until somebody waits for it.
        if matches!(leader.try_wait(), Ok(Some(_))) && killpg(group, None).is_err() {
            return true;
        }
        thread::sleep(STEP);
    }
    false
}

fn signal(groups: &[Pid], signal: Signal) {
    for group in groups {
        // The group may have ended by itself.
        killpg(*group, signal).ok();
    }
}

fn pid(leader: &Child) -> Pid {
    Pid::from_raw(i32::try_from(leader.id()).expect("process ids are positive numbers of 32 bits"))
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end, also when nobody listens any more: a full pipe would stop the child.
fn lines(output: impl Read + Send + 'static, show: fn(&str)) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            show(&line);
            sender.send(line).ok();
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_a_group_ends_the_grandchildren() {
        let (group, lines) = Group::spawn_reading(bash("sleep 600 & echo $!; wait"), |_| ()).unwrap();
        let grandchild = Pid::from_raw(lines.recv().unwrap().parse().unwrap());
        assert!(alive(grandchild));
        drop(group);
        assert!(!alive(grandchild));
    }

    #[test]
    fn waiting_ends_what_the_child_left_running() {
        let (group, lines) = Group::spawn_reading(bash("sleep 600 & echo $!"), |_| ()).unwrap();
        assert!(group.wait().unwrap().success());
        assert!(!alive(Pid::from_raw(lines.recv().unwrap().parse().unwrap())));
    }

    #[test]
    fn errors_are_read_in_their_place() {
        let (_group, lines) =
            Group::spawn_reading(bash("echo one; echo two >&2; echo three"), |_| ()).unwrap();
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["one", "two", "three"]);
    }

    fn bash(script: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", script]);
        bash
    }

    fn alive(process: Pid) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    }
}

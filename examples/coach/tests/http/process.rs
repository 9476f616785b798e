//! A program of this package on a free port, ended with the value.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::time::sleep;

use crate::program;

/// How long anything may take, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) struct Process {
    child: Child,
    /// Where it says that it listens.
    pub(crate) base: String,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        // Made first, so that one that says nothing is ended as well.
        let mut process = Self { child, base: String::new() };
        let line = soon(move || {
            let mut line = String::new();
            stdout.read_line(&mut line).map(|_| line)
        });
        let line = line.expect("it says where it listens").unwrap();
        let (_, base) = line.split_once(" listens on ").unwrap_or_else(|| panic!("it said {line:?}"));
        process.base = base.trim_end().into();
        process
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(pid(&self.child), signal).unwrap();
    }

    /// Whether it ends well, having been asked to.
    pub(crate) async fn ends(mut self) -> bool {
        self.signal(Signal::SIGTERM);
        let ended = async {
            loop {
                match self.child.try_wait().unwrap() {
                    Some(status) => break status,
                    None => sleep(Duration::from_millis(10)).await,
                }
            }
        };
        program::soon(ended).await.success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a program says until it ends by itself.
pub(crate) fn output(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = pid(&child);
    let output = soon(move || child.wait_with_output());
    let output = output.inspect_err(|_| kill(pid, Signal::SIGKILL).unwrap());
    output.expect("it ends by itself").unwrap()
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().unwrap())
}

/// What `work`, which blocks, brings, if it does so in time.
fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, mpsc::RecvTimeoutError> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(work()));
    told.recv_timeout(PATIENCE)
}

//! One child process: signalled only while it is ours, killed and reaped when it is dropped.

use std::process::{Child, Command};

use nix::{
    sys::signal::{self, Signal},
    unistd::Pid,
};

use crate::spawner;

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
}

impl Process {
    pub(crate) fn spawn(command: Command) -> Self {
        let what = format!("{command:?}");
        let child = spawner::spawn(command).unwrap_or_else(|error| panic!("cannot start {what}: {error}"));
        Self { child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_some()
    }

    /// Sends a signal.
    ///
    /// # Panics
    ///
    /// If the process has ended: its id may be somebody else's by now.
    pub(crate) fn signal(&mut self, signal: Signal) {
        assert!(!self.ended(), "the server does not run");
        let pid = i32::try_from(self.pid()).expect("process ids are positive numbers of 32 bits");
        signal::kill(Pid::from_raw(pid), signal).expect("a child that was not reaped can be signalled");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

//! A terminal of 80 columns, and what a verb shows on it.

use std::{
    fs::{self, File},
    io::Read,
    os::fd::OwnedFd,
    process::Child,
    sync::{Arc, Mutex},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use nix::{
    pty::{Winsize, openpty},
    sys::signal::{Signal, kill},
    unistd::{Pid, write},
};

use crate::support::command;

const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

pub(super) struct Terminal {
    child: Child,
    ours: OwnedFd,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    raw: Vec<u8>,
}

impl Terminal {
    /// Begins a verb on a terminal.
    pub(super) fn open(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let pair = openpty(Some(&SIZE), None).unwrap();
        let theirs = || pair.slave.try_clone().unwrap();
        let mut command = command();
        command
            .args(arguments)
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied());
        let child = command.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
        let screen = vt100::Parser::new(SIZE.ws_row, SIZE.ws_col, 1_000);
        let seen = Arc::new(Mutex::new(Seen { screen, raw: Vec::new() }));
        let (mut output, told) = (File::from(pair.master.try_clone().unwrap()), seen.clone());
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            // Fails once nobody has the other side any more.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let mut seen = told.lock().unwrap();
                seen.screen.process(&bytes[..count]);
                seen.raw.extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, ours: pair.master, seen }
    }

    /// What stands on the screen once `what` is there, which it must be in time.
    pub(super) fn until(&self, patience: Duration, what: &[&str]) -> String {
        let began = now();
        loop {
            let shown = self.shown();
            if what.iter().all(|text| shown.contains(text)) {
                return shown;
            }
            assert!(began.elapsed() < patience, "{what:?} is not shown after {patience:?}:\n{shown}");
            sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn shown(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    /// Everything that was written so far, as it was written.
    pub(super) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().raw).into_owned()
    }

    /// Whether another screen is shown than the one that was there before.
    pub(super) fn is_on_another_screen(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().alternate_screen()
    }

    pub(super) fn is_cursor_hidden(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().hide_cursor()
    }

    /// Types something.
    pub(super) fn type_in(&self, text: &str) {
        write(&self.ours, text.as_bytes()).unwrap();
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// The processes that the verb has started and that run.
    pub(super) fn children(&self) -> Vec<u32> {
        let id = self.child.id();
        let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        children
            .flat_map(|ids| ids.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    /// The exit code, once it has ended by itself in time; none if a signal has ended it.
    pub(super) fn ended(&mut self, patience: Duration) -> Option<i32> {
        let began = now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it has written last is still on its way to the screen.
                sleep(Duration::from_millis(100));
                return status.code();
            }
            assert!(began.elapsed() < patience, "it still runs:\n{}", self.shown());
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until a process is gone that this one has not started.
pub(super) fn is_gone(id: u32) {
    for _ in 0..250 {
        let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // One that nobody has asked for its end yet is as good as gone.
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("process {id} still runs");
}

#[expect(clippy::disallowed_methods, reason = "other processes live by the machine's clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

//! How a server is started: its command line, and the wait until it answers.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    clock::ServerClock, connection::ask, patience::within, port, process::Process, reply::Reply, spawner,
    stats::field,
};

const PATIENCE: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_secs(1);

/// Names another program than `redis-server`, such as a `valkey-server`.
const PROGRAM: &str = "RIG_SERVER";

/// Everything that a second start has in common with the first.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) port: u16,
    folder: TempDir,
    settings: Vec<String>,
    clock: Option<ServerClock>,
    /// A sentinel is told of its primary in a file, in which it keeps what it learns.
    sentinel: Option<String>,
}

impl Launch {
    pub(crate) fn new(settings: &[&str], clock: Option<&ServerClock>) -> Self {
        let folder = TempDir::with_prefix("forebay-rig-").expect("a folder can be created");
        let settings = settings.iter().map(|&setting| setting.into()).collect();
        Self { port: port::free(), folder, settings, clock: clock.cloned(), sentinel: None }
    }

    /// As a sentinel with this text in its file.
    pub(crate) fn sentinel(text: &str) -> Self {
        Self { sentinel: Some(text.to_owned()), ..Self::new(&[], None) }
    }

    /// Starts the server and waits until it answers. `None` if somebody else has the port.
    ///
    /// # Panics
    ///
    /// With its log if the server ends or does not answer within ten seconds.
    pub(crate) fn run(&self) -> Option<Process> {
        let mut process = Process::spawn(self.command());
        let ready = within(PATIENCE, || match process.ended() {
            true => Some(false),
            false => self.is_answered_by(process.pid()).then_some(true),
        });
        let log = || fs::read_to_string(self.log()).unwrap_or_else(|error| error.to_string());
        match ready {
            Some(true) => Some(process),
            Some(false) if log().contains("Address already in use") => None,
            _ => panic!("{} does not answer on port {}:\n{}", program().display(), self.port, log()),
        }
    }

    fn command(&self) -> Command {
        let log = File::create(self.log()).expect("a file can be created in a folder of one's own");
        let mut command = spawner::dying(program());
        if let Some(clock) = &self.clock {
            command.envs(clock.environment());
        }
        if let Some(text) = &self.sentinel {
            let file = self.folder.path().join("sentinel.conf");
            fs::write(&file, text).expect("a file can be written in a folder of one's own");
            command.arg(file).arg("--sentinel");
        }
        command
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(self.folder.path())
            .args(&self.settings)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("an open file can be shared"))
            .stderr(log);
        command
    }

    /// Asks for the process id, as another server may have taken the port and answer in place of ours.
    fn is_answered_by(&self, pid: u32) -> bool {
        let Ok(Reply::Bytes(info)) = ask(self.port, &[b"INFO", b"server"], PROBE) else { return false };
        field(&String::from_utf8_lossy(&info), "process_id") == Some(&pid.to_string())
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

fn program() -> OsString {
    env::var_os(PROGRAM).unwrap_or_else(|| "redis-server".into())
}

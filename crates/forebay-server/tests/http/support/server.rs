//! A server of one's own, on a free port, gone with the test.

use std::{
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use nix::{
    fcntl::OFlag,
    sys::{
        signal::{Signal, kill},
        stat::Mode,
    },
    unistd::{Pid, mkfifo},
};
use reqwest::{Method, RequestBuilder};
use tempfile::NamedTempFile;

const SETPRIV: &str = "/usr/bin/setpriv";

pub(crate) struct Server {
    child: Child,
    pub(crate) announcement: String,
    pub(crate) address: String,
    client: reqwest::Client,
    file: NamedTempFile,
    log: NamedTempFile,
}

impl Server {
    /// Starts a server without settings.
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// Starts a server with these settings in its file.
    pub(crate) fn with(settings: &str) -> Self {
        Self::given(&[], &[], settings)
    }

    /// Starts a server with these arguments, variables and settings.
    pub(crate) fn given(arguments: &[&str], variables: &[(&str, &str)], settings: &str) -> Self {
        let (file, log) = (settings_file(settings), NamedTempFile::new().unwrap());
        let mut child = command()
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(file.path())
            .args(arguments)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log.reopen().unwrap())
            .spawn()
            .unwrap();
        let announcement = announcement(&mut child);
        let first = announcement.lines().next().unwrap();
        let address = first.strip_prefix("forebay listens on http://").unwrap().to_owned();
        Self { child, announcement, address, client: reqwest::Client::new(), file, log }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request("GET", path)
    }

    pub(crate) fn put(&self, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request("PUT", path).body(body)
    }

    pub(crate) fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
        self.request("POST", path).body(body)
    }

    pub(crate) fn delete(&self, path: &str) -> RequestBuilder {
        self.request("DELETE", path)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Has the server read these settings again, and answers what it says of them in its log.
    pub(crate) fn reload(&self, settings: &str) -> String {
        fs::write(self.file.path(), settings).unwrap();
        let before = fs::read_to_string(self.log.path()).unwrap().len();
        self.signal(Signal::SIGHUP);
        for _ in 0..200 {
            sleep(Duration::from_millis(50));
            let said = fs::read_to_string(self.log.path()).unwrap().split_off(before);
            if said.contains("settings were read again") {
                return said;
            }
        }
        panic!("the server does not say that it has read its settings again");
    }

    /// Has the server read settings again that do not end while the file that is returned is open.
    pub(crate) fn begin_reload(&self) -> File {
        fs::remove_file(self.file.path()).unwrap();
        mkfifo(self.file.path(), Mode::S_IRWXU).unwrap();
        self.signal(Signal::SIGHUP);
        for _ in 0..200 {
            sleep(Duration::from_millis(50));
            // There is no writer until somebody reads.
            let options = OpenOptions::new().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).to_owned();
            if let Ok(settings) = options.open(self.file.path()) {
                return settings;
            }
        }
        panic!("the server does not read its settings again");
    }

    /// What the server has said in its log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log.path()).unwrap()
    }

    /// The exit code, once the process has ended by itself within ten seconds.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        for _ in 0..200 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            sleep(Duration::from_millis(50));
        }
        panic!("the server still runs");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, as a test of the shutdown wants.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs the program with these arguments, variables and settings until it ends by itself.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)], settings: Option<&str>) -> Output {
    let mut command = command();
    command.args(arguments).envs(variables.iter().copied());
    let file = settings.map(settings_file);
    if let Some(file) = &file {
        command.arg("--config").arg(file.path());
    }
    command.output().unwrap()
}

/// The program, out of the reach of the settings of whoever runs the tests.
///
/// Where `setpriv` is at hand the program dies with this thread, even when the tests are killed.
pub(crate) fn command() -> Command {
    let program = env!("CARGO_BIN_EXE_forebay");
    let mut command = Command::new(program);
    if Path::new(SETPRIV).exists() {
        command = Command::new(SETPRIV);
        command.args(["--pdeathsig", "KILL", "--", program]);
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FOREBAY_")) {
        command.env_remove(name);
    }
    command.env_remove("RUST_LOG");
    command
}

fn settings_file(settings: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    file.write_all(settings.as_bytes()).unwrap();
    file
}

/// Reads what the server says at its start, up to the last line that it proposes.
fn announcement(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut text = String::new();
    for line in lines.by_ref() {
        text += &line;
        text.push('\n');
        if line.contains("Forebay-Lease") {
            break;
        }
    }
    text
}

//! A Redis of the demonstration's own: stopped, killed and brought back on the way.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Stdio},
    time::Duration,
};

use forebay::Token;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::time::sleep;

use crate::cli::leash::leashed;

/// Who may be on the machine.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

/// How often, and how long apart, it is looked whether a server is up.
const LOOKS: (u32, Duration) = (100, Duration::from_millis(50));

/// A server without persistence, that ends with the thread that has started it.
#[derive(Debug)]
pub(super) struct OwnRedis {
    program: &'static str,
    address: SocketAddr,
    password: String,
    child: Option<Child>,
}

impl OwnRedis {
    /// Starts one, if there is any on the machine. To be called on the thread that lives longest.
    pub(super) async fn start() -> Option<Self> {
        for program in PROGRAMS {
            let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).ok()?;
            let mut redis = Self { program, address, password: Token::random().to_string(), child: None };
            if redis.restart().await {
                return Some(redis);
            }
        }
        None
    }

    pub(super) fn url(&self) -> String {
        format!("redis://:{}@{}", self.password, self.address)
    }

    /// What it is.
    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    /// Starts it, empty, in its old place. Answers whether it is up.
    pub(super) async fn restart(&mut self) -> bool {
        self.kill();
        self.child = self.spawn().ok();
        for _ in 0..LOOKS.0 {
            let Some(child) = &mut self.child else { return false };
            if child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return false;
            }
            if TcpStream::connect_timeout(&self.address, LOOKS.1).is_ok() {
                return true;
            }
            sleep(LOOKS.1).await;
        }
        false
    }

    /// Stops it in its steps: it keeps its connections, and is silent. Answers whether it was there for that.
    pub(super) fn pause(&mut self) -> bool {
        let Some(child) = self.child.as_mut() else { return false };
        let runs = child.try_wait().is_ok_and(|ended| ended.is_none());
        let id = i32::try_from(child.id()).map(Pid::from_raw);
        runs && id.is_ok_and(|id| kill(id, Signal::SIGSTOP).is_ok())
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// What it is told comes by its standard input: others can read a command line.
    fn spawn(&self) -> io::Result<Child> {
        let mut child = leashed(self.program)?
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let settings = format!(
            "bind 127.0.0.1\nport {}\nrequirepass {}\nsave \"\"\nappendonly no\nmaxmemory 64mb\n",
            self.address.port(),
            self.password
        );
        if let Some(mut input) = child.stdin.take() {
            input.write_all(settings.as_bytes())?;
        }
        Ok(child)
    }
}

impl Drop for OwnRedis {
    fn drop(&mut self) {
        self.kill();
    }
}

//! One server: started, stopped in several ways, and asked.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use nix::sys::signal::Signal;

use crate::{
    clock::ServerClock, connection::ask, launch::Launch, patience::within, process::Process, reply::Reply,
    stats::field,
};

/// How many ports may turn out to be taken before something else must be wrong.
const ATTEMPTS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(10);

/// A server of one's own, without persistence, that ends when this is dropped or the process ends.
#[derive(Debug)]
pub struct Redis {
    // Dropped first: the server works in the folder of its launch.
    process: Mutex<Process>,
    launch: Launch,
}

impl Redis {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If it does not answer within ten seconds.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server with further arguments, such as `["--maxmemory", "2mb"]`.
    ///
    /// # Panics
    ///
    /// If it does not answer within ten seconds.
    pub fn with(arguments: &[&str]) -> Self {
        Self::launch(arguments, None)
    }

    /// Starts a server whose clock stands still until it is moved.
    ///
    /// # Panics
    ///
    /// If it does not answer within ten seconds, or has the clock of the machine, as where libfaketime is missing.
    pub fn with_clock() -> (Self, ServerClock) {
        let clock = ServerClock::new();
        (Self::under(&clock, &[]), clock)
    }

    /// Starts a server whose clock goes on by itself and can be moved besides.
    ///
    /// # Panics
    ///
    /// If it does not answer within ten seconds, or has the clock of the machine, as where libfaketime is missing.
    pub fn with_running_clock() -> (Self, ServerClock) {
        const STEP: Duration = Duration::from_hours(1);
        let clock = ServerClock::running();
        let redis = Self::launch(&[], Some(&clock));
        let second = || redis.call(&["TIME"]).lines().next().and_then(|second| second.parse::<u64>().ok());
        let before = second();
        clock.advance(STEP);
        let moved = before.zip(second()).is_some_and(|(before, after)| after >= before + STEP.as_secs());
        assert!(moved, "no libfaketime: install the package faketime");
        clock.step_back(STEP);
        (redis, clock)
    }

    /// Starts a server under a clock that others may have, too.
    pub(crate) fn under(clock: &ServerClock, arguments: &[&str]) -> Self {
        let redis = Self::launch(arguments, Some(clock));
        let time = redis.call(&["TIME"]);
        assert_eq!(
            time.lines().next(),
            Some(clock.second().as_str()),
            "no libfaketime: install the package faketime"
        );
        redis
    }

    /// Starts a sentinel with this text in its file.
    pub(crate) fn sentinel(text: &str) -> Self {
        Self::by(|| Launch::sentinel(text))
    }

    fn launch(arguments: &[&str], clock: Option<&ServerClock>) -> Self {
        Self::by(|| Launch::new(arguments, clock))
    }

    fn by(prepare: impl Fn() -> Launch) -> Self {
        let started = (0..ATTEMPTS).find_map(|_| {
            let launch = prepare();
            launch.run().map(|process| Self { process: Mutex::new(process), launch })
        });
        started.expect("some port is free")
    }

    /// The address as clients take it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port())
    }

    /// The port on 127.0.0.1, the same after a restart.
    pub fn port(&self) -> u16 {
        self.launch.port
    }

    /// The process id, another one after a restart.
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// Stops the server in its steps: it keeps its connections and accepts new ones, but is silent.
    pub fn pause(&self) {
        self.process().signal(Signal::SIGSTOP);
    }

    /// Lets a paused server go on.
    pub fn resume(&self) {
        self.process().signal(Signal::SIGCONT);
    }

    /// Kills the server, which stays dead until [`restart`](Self::restart): connections are refused.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Replaces the server, running or dead, by an empty one on the same port.
    ///
    /// A node keeps its place in its cluster.
    ///
    /// # Panics
    ///
    /// If the new one does not answer within ten seconds.
    pub fn restart(&self) {
        let mut process = self.process();
        process.kill();
        *process = within(PATIENCE, || self.launch.run()).expect("nobody else took the port");
    }

    /// Whether the server answers a `PING` in time.
    pub fn answers(&self, patience: Duration) -> bool {
        ask(self.port(), &[b"PING"], patience).is_ok_and(|reply| reply == Reply::Status("PONG".into()))
    }

    /// Sends one command over a connection of its own. An error that the server answers is a reply.
    ///
    /// # Panics
    ///
    /// If there is no answer within ten seconds.
    pub fn raw(&self, command: &[&[u8]]) -> Reply {
        ask(self.port(), command, PATIENCE).unwrap_or_else(|error| {
            let name = String::from_utf8_lossy(command.first().copied().unwrap_or_default());
            panic!("no answer to {name} from {}: {error}", self.url())
        })
    }

    /// Sends one command as [`raw`](Self::raw) does, and tells the answer as text.
    ///
    /// No value reads `(nil)`, an error begins with `-`, an array has one element on each line.
    pub fn call(&self, command: &[&str]) -> String {
        self.reply(command).to_string()
    }

    pub(crate) fn reply(&self, command: &[&str]) -> Reply {
        self.raw(&command.iter().map(|word| word.as_bytes()).collect::<Vec<_>>())
    }

    /// The value of one field of `INFO`, if the server has it. A server that changes its role may cut off whoever asks:
    /// then it has none.
    pub fn field(&self, section: &str, name: &str) -> Option<String> {
        let info = ask(self.port(), &[b"INFO", section.as_bytes()], PATIENCE).ok()?;
        field(&info.to_string(), name).map(str::to_owned)
    }

    pub(crate) fn field_of(&self, command: &[&str], name: &str) -> Option<String> {
        field(&self.call(command), name).map(str::to_owned)
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! A server's clock, which a test moves. libfaketime reads it out of a file whenever the server asks for the time.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tempfile::TempDir;

/// Where it begins, since 1970.
const BEGINNING: Duration = Duration::from_secs(1_800_000_000);

/// Debian's name of the folder stands for `$LIB`. The allocator of the C library comes before that of the server, which
/// asks for the time before it can be told.
const PRELOADED: &str = "/usr/$LIB/faketime/libfaketime.so.1:libc.so.6";

/// The clock of one server, of all nodes of a cluster, or of another process: it stands still until it is moved, or goes
/// on by itself and is moved besides. Cheap to clone.
///
/// What a process times by its monotonic clock, as the server does its cron, goes on by the clock of the machine.
#[derive(Debug, Clone)]
pub struct ServerClock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: TempDir,
    time: Mutex<Duration>,
    pace: Pace,
}

/// How a clock goes when nobody moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Not at all.
    Standing,
    /// As the clock of the machine does, which is [`BEGINNING`] when it is not moved.
    Running,
}

impl ServerClock {
    pub(crate) fn new() -> Self {
        Self::going(Pace::Standing)
    }

    /// A clock that agrees with the machine's until it is moved.
    ///
    /// # Panics
    ///
    /// If no file can be written.
    pub fn running() -> Self {
        Self::going(Pace::Running)
    }

    fn going(pace: Pace) -> Self {
        let folder = TempDir::with_prefix("forebay-rig-").expect("a folder can be created");
        let clock = Self(Arc::new(Inner { folder, time: Mutex::new(BEGINNING), pace }));
        clock.tell(BEGINNING);
        clock
    }

    /// Lets `span` pass, at once.
    ///
    /// # Panics
    ///
    /// If the time cannot be told to the server.
    pub fn advance(&self, span: Duration) {
        let mut time = self.time();
        *time += span;
        self.tell(*time);
    }

    /// Steps back by `span`, as when somebody sets a clock right.
    ///
    /// # Panics
    ///
    /// If the time cannot be told to the server.
    pub fn step_back(&self, span: Duration) {
        let mut time = self.time();
        *time -= span;
        self.tell(*time);
    }

    /// The second since 1970, as `TIME` answers it.
    pub(crate) fn second(&self) -> String {
        self.time().as_secs().to_string()
    }

    /// What a process is to find in its environment, so that its calendar goes by this clock.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("LD_PRELOAD", PRELOADED.to_owned()),
            ("FAKETIME_TIMESTAMP_FILE", self.file("time").display().to_string()),
            ("FAKETIME_FMT", "%s".to_owned()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }

    /// The file is replaced in one step: half a time would be another one. What is read is a binary fraction, so half a
    /// millisecond more keeps it within its millisecond.
    fn tell(&self, time: Duration) {
        let text = match self.0.pace {
            Pace::Standing => format!("{}.{:03}5\n", time.as_secs(), time.subsec_millis()),
            Pace::Running if time < BEGINNING => format!("-{:.3}\n", (BEGINNING - time).as_secs_f64()),
            Pace::Running => format!("+{:.3}\n", (time - BEGINNING).as_secs_f64()),
        };
        let written = fs::write(self.file("next"), text);
        let told = written.and_then(|()| fs::rename(self.file("next"), self.file("time")));
        told.expect("a file can be replaced in a folder of one's own");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.folder.path().join(name)
    }

    fn time(&self) -> MutexGuard<'_, Duration> {
        self.0.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

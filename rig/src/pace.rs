//! Keys that age by a time that a test tells, while the server's clock runs on.

use std::time::Duration;

use crate::{connection::Connection, redis::Redis, reply::Reply};

const PACE: &str = include_str!("pace.lua");
const PATIENCE: Duration = Duration::from_secs(10);

/// Longer than any life, and a whole number for Lua.
const EVER: Duration = Duration::from_millis(1 << 53);

/// Some keys of one server, and how old they were at the last call.
///
/// Between two calls keys age by the server's clock; with the second call that is undone. Only a key that was written
/// in between stays too old, by no more than [`slack`](Self::slack).
#[derive(Debug)]
pub struct Pace {
    pattern: String,
    connection: Connection,
    /// The server's time at the last call, then keys and expiries by turns.
    last: Vec<Vec<u8>>,
    slack: Duration,
    due: Duration,
}

impl Redis {
    /// Takes charge of the expiries of the keys that match `pattern`, as `KEYS` understands it.
    ///
    /// # Panics
    ///
    /// If the server does not answer within ten seconds, then and later.
    pub fn pace(&self, pattern: &str) -> Pace {
        let connection = Connection::open(self.port(), PATIENCE).expect("the server accepts connections");
        let mut pace = Pace {
            pattern: pattern.to_owned(),
            connection,
            last: vec![vec![]],
            slack: Duration::ZERO,
            due: Duration::ZERO,
        };
        pace.pass(Duration::ZERO);
        pace
    }
}

impl Pace {
    /// Makes the keys older by `span`, and ends those whose time is over. What is no whole millisecond is due later.
    pub fn pass(&mut self, span: Duration) {
        let before = self.time();
        let due = self.due + span;
        self.due = Duration::from_nanos(u64::from(due.subsec_nanos() % 1_000_000));
        let span = due.as_millis().to_string();
        let mut command: Vec<&[u8]> =
            vec![b"EVAL", PACE.as_bytes(), b"0", self.pattern.as_bytes(), span.as_bytes()];
        command.extend(self.last.iter().map(Vec::as_slice));
        let answer = self.connection.ask(&command).expect("the server answers");
        let Reply::Array(parts) = answer.granted() else { unreachable!("a table of Lua is an array") };
        self.last = parts.into_iter().map(bytes).collect();
        if let Some(passed) = before.and_then(|before| self.time()?.checked_sub(before)) {
            self.slack = self.slack.max(passed);
        }
    }

    /// By how much a key may be older than it should, as it was found at the last call or before.
    pub fn slack(&self) -> Duration {
        self.slack
    }

    /// The keys that would stay for ever, as of the last call.
    pub fn without_expiry(&self) -> Vec<String> {
        let pairs = self.last[1..].chunks_exact(2).filter(|pair| pair[1] == b"-1");
        pairs.map(|pair| String::from_utf8_lossy(&pair[0]).into_owned()).collect()
    }

    /// Ends every key that has an expiry.
    pub fn end(&mut self) {
        self.pass(EVER * 2);
    }

    fn time(&self) -> Option<Duration> {
        str::from_utf8(&self.last[0]).ok()?.parse().ok().map(Duration::from_millis)
    }
}

fn bytes(part: Reply) -> Vec<u8> {
    match part {
        Reply::Bytes(bytes) => bytes,
        other => unreachable!("the script answers strings: {other}"),
    }
}

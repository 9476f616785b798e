//! How a lock is asked for: every option has a default, and bounds.

use std::time::Duration;

use crate::{
    error::{Error, ErrorKind},
    token::Token,
};

/// Below this, a late answer of the store would leave nothing of a lock's life.
const SHORTEST: Duration = Duration::from_millis(100);

/// A lock of which nobody can say that it ended is free again after this.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

const HOUR: Duration = Duration::from_secs(3600);

/// How many replicas must have a lock, and how long they are waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replicas {
    pub(super) count: u32,
    pub(super) within: Duration,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) time_to_live: Duration,
    pub(super) wait: Duration,
    pub(super) max_hold: Duration,
    pub(super) replicas: Option<Replicas>,
    pub(super) token: Option<Token>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time_to_live: Duration::from_secs(30),
            wait: Duration::from_secs(10),
            max_hold: HOUR,
            replicas: None,
            token: None,
        }
    }
}

impl Options {
    /// Refuses what could not work, by name and with the remedy.
    pub(super) fn check(&self) -> Result<(), Error> {
        let within = |span: Duration, shortest, longest| (shortest..=longest).contains(&span);
        let rules = [
            (
                within(self.time_to_live, SHORTEST, LONGEST),
                "a lock's time_to_live",
                self.time_to_live,
                "use 100 ms to 24 h; 30 s is the default",
            ),
            (
                within(self.wait, Duration::ZERO, HOUR),
                "the wait for a lock",
                self.wait,
                "use 0 to 1 h; 10 s is the default",
            ),
            (
                within(self.max_hold, Duration::from_millis(1), Duration::MAX),
                "a lock's max_hold",
                self.max_hold,
                "use 1 ms or more; 1 h is the default",
            ),
        ];
        if let Some((_, what, span, remedy)) = rules.into_iter().find(|(holds, ..)| !holds) {
            return Err(Error::new(ErrorKind::Config, format!("{what} cannot be {span:?}: {remedy}")));
        }
        match self.replicas {
            Some(Replicas { count, within: span })
                if count == 0 || !within(span, Duration::from_millis(1), Duration::from_secs(1)) =>
            {
                let why = format!("{count} replicas within {span:?}: use at least 1, and 1 ms to 1 s");
                Err(Error::new(ErrorKind::Config, why))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_work_is_refused_with_its_bounds() {
        let options = Options::default();
        let millis = Duration::from_millis;
        assert!(options.check().is_ok());
        for time_to_live in [Duration::ZERO, Duration::from_nanos(1), millis(99), Duration::MAX] {
            let refused = Options { time_to_live, ..options }.check().unwrap_err();
            assert!(refused.to_string().contains("100 ms"), "{refused}");
        }
        assert!(Options { time_to_live: millis(100), ..options }.check().is_ok());
        assert!(Options { wait: Duration::MAX, ..options }.check().is_err());
        assert!(Options { max_hold: Duration::ZERO, ..options }.check().is_err());
        for (count, within) in [(0, millis(10)), (1, Duration::ZERO), (1, Duration::MAX)] {
            assert!(Options { replicas: Some(Replicas { count, within }), ..options }.check().is_err());
        }
    }
}

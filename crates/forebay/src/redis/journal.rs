//! Says in the log how Redis is, at most twice a minute however often that changes.

use std::time::Duration;

use crate::{
    clock::{Clock, Moment},
    sync::Mutex,
};

const MINUTE: Duration = Duration::from_secs(60);

/// The log lines about Redis of one `Forebay`.
#[derive(Debug)]
pub(super) struct Journal {
    clock: Clock,
    /// When the last two lines were written.
    written: Mutex<[Option<Moment>; 2]>,
}

impl Journal {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, written: Mutex::default() }
    }

    pub(super) fn warn(&self, part: &str, reason: &str) {
        if self.may_write() {
            tracing::warn!(part, reason, "Redis cannot be used as it should be; the service goes on without");
        }
    }

    pub(super) fn recovered(&self, part: &str) {
        if self.may_write() {
            tracing::info!(part, "Redis is in use again");
        }
    }

    fn may_write(&self) -> bool {
        let now = self.clock.now();
        let mut written = self.written.lock();
        let [older, newer] = *written;
        let may = older.is_none_or(|older| now.since(older) >= MINUTE);
        if may {
            *written = [newer, Some(now)];
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_a_minute_at_most() {
        let (clock, time) = Clock::manual();
        let journal = Journal::new(clock);
        let mut written = 0;
        for _ in 0..600 {
            written += u32::from(journal.may_write());
            time.advance(Duration::from_millis(500));
        }
        assert_eq!(written, 10);
    }
}

//! Says in the log how Redis is, at most twice a minute however often that changes.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    clock::{Clock, Moment},
    sync::Mutex,
};

const MINUTE: Duration = Duration::from_secs(60);

/// The log lines about Redis of one `Forebay`.
#[derive(Debug)]
pub(super) struct Journal {
    clock: Clock,
    written: Mutex<Written>,
}

/// The last two lines: when they were written, and how the last one reads.
#[derive(Debug, Default)]
struct Written {
    moments: [Option<Moment>; 2],
    last: String,
    /// Of which parts the last word is that they do not work.
    troubled: BTreeSet<String>,
}

impl Journal {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, written: Mutex::default() }
    }

    pub(super) fn warn(&self, part: &str, reason: &str) {
        if self.may_write(&format!("{part}: {reason}")) {
            self.written.lock().troubled.insert(part.to_owned());
            tracing::warn!(part, reason, "Redis cannot be used as it should be; the service goes on without");
        }
    }

    /// Takes back that `part` does not work, where that was said: as soon as there is room for a line, for which it
    /// is to be called again and again.
    pub(super) fn recovered(&self, part: &str) {
        let troubled = self.written.lock().troubled.contains(part);
        if troubled && self.may_write("") {
            self.written.lock().troubled.remove(part);
            tracing::info!(part, "Redis is in use again");
        }
    }

    /// What was said last is not said again within the minute, so that room is left for the next news.
    fn may_write(&self, line: &str) -> bool {
        let now = self.clock.now();
        let within = |moment: Option<Moment>| moment.is_some_and(|moment| now.since(moment) < MINUTE);
        let mut written = self.written.lock();
        let [older, newer] = written.moments;
        if within(older) || (within(newer) && written.last == line) {
            return false;
        }
        written.moments = [newer, Some(now)];
        line.clone_into(&mut written.last);
        true
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
        for n in 0..600 {
            written += u32::from(journal.may_write(&n.to_string()));
            time.advance(Duration::from_millis(500));
        }
        assert_eq!(written, 10);
    }

    #[test]
    fn the_end_of_a_trouble_is_told_late_rather_than_never() {
        let (clock, time) = Clock::manual();
        let journal = Journal::new(clock);
        journal.warn("redis", "it does not answer");
        journal.warn("bus", "no message comes back");
        journal.recovered("redis");
        assert!(journal.written.lock().troubled.contains("redis"));
        time.advance(MINUTE);
        journal.recovered("redis");
        assert!(!journal.written.lock().troubled.contains("redis"));
    }

    #[test]
    fn one_refusal_over_and_over_leaves_room_for_the_next_news() {
        let journal = Journal::new(Clock::manual().0);
        let written: Vec<bool> =
            ["OOM", "OOM", "OOM", "it does not answer"].map(|line| journal.may_write(line)).into();
        assert_eq!(written, [true, false, false, true]);
    }
}

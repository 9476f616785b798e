//! What the server's clock shows, as of its last answer and this process's monotonic clock.

use std::time::Duration;

use super::calendar::Time;
use crate::clock::Moment;

/// An answer that took longer says too little about when the server looked at its clock.
const PROMPT: Duration = Duration::from_secs(1);

/// A time of the server's, and when it was that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerTime {
    time: Time,
    at: Moment,
}

impl ServerTime {
    /// From an answer to what was sent at `sent`; nothing if it took too long.
    pub(super) fn of(time: Time, sent: Moment, answered: Moment) -> Option<Self> {
        let took = answered.since(sent);
        (took <= PROMPT).then(|| Self { time, at: sent.after(took / 2) })
    }

    /// The server's time at `moment`.
    pub(super) fn at(&self, moment: Moment) -> Time {
        self.time + millis(moment.since(self.at)) - millis(self.at.since(moment))
    }

    /// The moment at which the server's time is `time`; the beginning of the clock if that was before.
    pub(super) fn when(&self, time: Time) -> Moment {
        let span = Duration::from_millis(time.abs_diff(self.time));
        if time < self.time { self.at.before(span) } else { self.at.after(span) }
    }
}

pub(super) fn millis(span: Duration) -> Time {
    Time::try_from(span.as_millis()).unwrap_or(Time::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_before_and_after_the_answer_have_their_times() {
        let moment = |ms| Moment::default().after(Duration::from_millis(ms));
        let time = ServerTime::of(1_800_000_000_000, moment(1000), moment(1020)).unwrap();
        for (ms, at) in [(1010, 1_800_000_000_000), (10, 1_799_999_999_000), (5010, 1_800_000_004_000)] {
            assert_eq!((time.at(moment(ms)), time.when(at)), (at, moment(ms)));
        }
    }

    #[test]
    fn an_answer_that_was_long_on_its_way_says_nothing() {
        let moment = |ms| Moment::default().after(Duration::from_millis(ms));
        assert!(ServerTime::of(0, moment(0), moment(1001)).is_none());
    }
}

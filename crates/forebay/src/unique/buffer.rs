//! What a process knows of a counter that is kept elsewhere: who waits, who was counted, what time it is there.

use std::time::Duration;

use super::{
    calendar::{Calendar, Day, Time},
    pending::{Added, BATCH, Pending, Waiting},
    seen::Seen,
    time::{ServerTime, millis},
    visitor::Visitor,
};
use crate::clock::Moment;

/// How often it is said in the log that visitors were dropped.
const SELDOM: Duration = Duration::from_secs(60);

/// Whom a record should wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// Nobody.
    Quietly,
    /// Who waits for the first one.
    First,
    /// Who waits for a whole batch.
    Batch,
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Next {
    Nothing,
    /// The server's time has to be asked for first.
    Time,
    /// Ask again: some were dropped, since the day on which they came is no longer kept.
    Again,
    Send(Batch),
}

/// Visitors of one day.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) day: Day,
    pub(super) visitors: Vec<Waiting>,
}

impl Batch {
    /// For how long the first and the last of them have waited, in ms.
    pub(super) fn ages(&self, now: Moment) -> [Time; 2] {
        let ages = || self.visitors.iter().map(|waiting| millis(now.since(waiting.first)));
        [ages().max().unwrap_or(0), ages().min().unwrap_or(0)]
    }
}

#[derive(Debug)]
pub(super) struct Buffer {
    calendar: Calendar,
    pub(super) pending: Pending,
    seen: Seen,
    time: Option<ServerTime>,
    dropped: u64,
    /// How many of those that were dropped were told of as an event, and in the log, and when that was.
    told: u64,
    logged: (u64, Option<Moment>),
    is_closed: bool,
}

impl Buffer {
    pub(super) fn new(calendar: Calendar, room: usize) -> Self {
        Self {
            calendar,
            pending: Pending::new(room),
            seen: Seen::default(),
            time: None,
            dropped: 0,
            told: 0,
            logged: (0, None),
            is_closed: false,
        }
    }

    pub(super) fn record(&mut self, visitor: Visitor, now: Moment) -> Noted {
        if self.seen.has(&visitor, now) {
            return Noted::Quietly;
        }
        match self.is_closed {
            true => self.dropped += 1,
            false => match self.pending.add(visitor, now) {
                Added::New if self.pending.len() == 1 => return Noted::First,
                Added::New if self.pending.len().is_multiple_of(BATCH) => return Noted::Batch,
                Added::New | Added::Again => {}
                Added::NoRoom => self.dropped += 1,
            },
        }
        Noted::Quietly
    }

    /// The server's day at `now`, as far as is known.
    pub(super) fn today(&self, now: Moment) -> Option<Day> {
        Some(self.calendar.day(self.time?.at(now)))
    }

    /// What to do with those that wait and came before the one with the number `end`.
    pub(super) fn next(&mut self, end: u64, now: Moment) -> Next {
        let Some(front) = self.pending.front().filter(|_| self.pending.has_before(end)) else {
            return Next::Nothing;
        };
        let Some(time) = self.time else { return Next::Time };
        let day = self.calendar.day(time.at(front.first));
        let visitors = self.pending.batch(|moment| day.has(time.at(moment)));
        if self.calendar.ends(&day) <= time.at(now) {
            self.pending.done(visitors.len(), |moment| day.has(time.at(moment)));
            self.dropped += visitors.len() as u64;
            return Next::Again;
        }
        Next::Send(Batch { day, visitors })
    }

    /// Sets the clock by which days are told.
    pub(super) fn set(&mut self, time: ServerTime, now: Moment) {
        self.time = Some(time);
        let today = self.calendar.day(time.at(now));
        self.seen.on(today.date, time.when(today.until), now);
    }

    /// Takes note that a batch was counted: whether some of it wait on, for the next day.
    pub(super) fn counted(&mut self, batch: &Batch, now: Moment) -> bool {
        let Some(time) = self.time else { return false };
        self.seen.add(batch.day.date, batch.visitors.iter().map(|waiting| waiting.visitor), now);
        self.pending.done(batch.visitors.len(), |moment| batch.day.has(time.at(moment)))
    }

    /// Drops whoever waits, and whoever comes from now on: how many waited, of whom whoever asks is to tell in the log.
    pub(super) fn close(&mut self) -> usize {
        let waited = self.pending.clear();
        self.dropped += waited as u64;
        self.logged.0 += waited as u64;
        self.is_closed = true;
        waited
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many were dropped since the last time, for an event, and how many are due to be told of in the log.
    pub(super) fn tell(&mut self, now: Moment) -> [u64; 2] {
        let event = self.dropped - self.told;
        self.told = self.dropped;
        let (logged, at) = self.logged;
        let is_due = self.dropped > logged && at.is_none_or(|at| now.since(at) >= SELDOM);
        if is_due {
            self.logged = (self.dropped, Some(now));
        }
        [event, if is_due { self.dropped - logged } else { 0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two lines about the same visitors named two reasons.
    #[test]
    fn those_that_wait_at_the_end_are_told_of_in_the_log_by_who_closes() {
        let now = Moment::default();
        let mut buffer = Buffer::new(Calendar::new("UTC", 8).unwrap(), 2);
        for id in ["a", "b", "c"] {
            buffer.record(Visitor::of(id), now);
        }
        assert_eq!(buffer.close(), 2);
        assert_eq!(buffer.tell(now), [3, 1]);
    }
}

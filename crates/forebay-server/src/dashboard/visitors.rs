//! Visitors by day, as the store counts them, and by hour, as this server has seen the count of the day grow.

use std::{collections::VecDeque, time::Duration};

use forebay::unique::{Date, Reader};
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};

use super::{lock, sampler::now_ms};
use crate::app::{App, Shared};

/// How often they are counted while a page is open.
const TICK: Duration = Duration::from_secs(5);

/// In how many ticks they are counted once while none is, for the hours.
const UNSEEN: u32 = 12;

const DAYS: u32 = 7;
const HOURS: usize = 24;
const HOUR_MS: u64 = 3_600_000;

/// How many counters are shown, in the order of their names.
const MOST: usize = 8;

/// One counter.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Counter {
    name: String,
    /// From the oldest to today, as they were counted last; empty until they could be.
    days: Vec<Day>,
    /// Whether they could be counted this time.
    is_counted: bool,
    hours: VecDeque<Hour>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Day {
    date: String,
    visitors: u64,
}

/// By how much the count of a day has grown within an hour, or within the part of it in which this server ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Hour {
    begins_ms: u64,
    visitors: u64,
}

/// What was counted last.
#[derive(Debug, Default)]
struct Tally {
    hours: VecDeque<Hour>,
    last: Option<(Date, u64)>,
    days: Vec<Day>,
}

/// Counts until the server shuts down.
pub(crate) async fn count(app: Shared) {
    let names: Vec<_> = app.counters.declared().take(MOST).map(str::to_owned).collect();
    let mut tallies: Vec<_> = names.iter().map(|_| Tally::default()).collect();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for tick in (0..UNSEEN).cycle() {
        tokio::select! {
            biased;
            () = app.draining.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if tick > 0 && app.dashboard.frames.receiver_count() == 0 {
            continue;
        }
        let mut counted = Vec::new();
        for (name, tally) in names.iter().zip(&mut tallies) {
            let days = days(&app, name).await;
            counted.push(tally.told(name, days.as_deref(), now_ms()));
        }
        *lock(&app.dashboard.visitors) = counted;
    }
}

/// The last days, the oldest first; nothing if one of them cannot be counted.
async fn days(app: &App, name: &str) -> Option<Vec<(Date, u64)>> {
    let reader: Reader = app.counters.read(name).ok()?;
    let today = reader.today().await.ok()?;
    let mut days = vec![(today.to, today.visitors)];
    let mut date = today.to;
    for _ in 1..DAYS.min(reader.keep_days()) {
        date = date.yesterday().ok()?;
        days.push((date, reader.count(date).await.ok()?.visitors));
    }
    days.reverse();
    Some(days)
}

impl Tally {
    /// What is shown of the counter, of which these days were counted if it could be asked.
    fn told(&mut self, name: &str, counted: Option<&[(Date, u64)]>, at_ms: u64) -> Counter {
        if let Some((days, today)) = counted.and_then(|days| Some((days, days.last()?))) {
            self.take(*today, at_ms);
            let day = |&(date, visitors): &(Date, u64)| Day { date: date.to_string(), visitors };
            self.days = days.iter().map(day).collect();
        }
        Counter {
            name: name.to_owned(),
            days: self.days.clone(),
            is_counted: counted.is_some(),
            hours: self.hours.clone(),
        }
    }

    fn take(&mut self, (date, visitors): (Date, u64), at_ms: u64) {
        let before = match self.last {
            Some((same, before)) if same == date => before,
            Some(_) => 0,
            None => visitors,
        };
        self.last = Some((date, visitors));
        let grown = visitors.saturating_sub(before);
        let begins_ms = at_ms - at_ms % HOUR_MS;
        match self.hours.back_mut().filter(|hour| hour.begins_ms >= begins_ms) {
            Some(hour) => hour.visitors += grown,
            None => self.hours.push_back(Hour { begins_ms, visitors: grown }),
        }
        if self.hours.len() > HOURS {
            self.hours.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_what_its_day_has_grown_by() {
        let mut tally = Tally::default();
        let (monday, tuesday) = (Date::constant(2026, 5, 11), Date::constant(2026, 5, 12));
        for (day, visitors, hour) in [
            (monday, 70, 0),
            (monday, 75, 0),
            (monday, 90, 1),
            (monday, 90, 2),
            (tuesday, 4, 2),
            (tuesday, 5, 3),
        ] {
            tally.take((day, visitors), hour * HOUR_MS + 1);
        }
        let grown: Vec<_> = tally.hours.iter().map(|hour| hour.visitors).collect();
        assert_eq!(grown, [5, 15, 4, 1]);
    }

    #[test]
    fn what_was_counted_last_is_shown_while_nothing_can_be_counted() {
        let mut tally = Tally::default();
        assert!(!tally.told("site", None, HOUR_MS).is_counted);

        let day = (Date::constant(2026, 5, 11), 70);
        let counted = tally.told("site", Some(&[day]), HOUR_MS);
        assert!(counted.is_counted && counted.days[0].visitors == 70);
        assert_eq!(tally.told("site", None, HOUR_MS), Counter { is_counted: false, ..counted });
    }

    #[test]
    fn a_day_of_hours_is_kept() {
        let mut tally = Tally::default();
        (0..100).for_each(|hour| tally.take((Date::constant(2026, 5, 11), hour), hour * HOUR_MS));
        assert_eq!(tally.hours.len(), HOURS);
    }
}

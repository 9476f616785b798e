//! The store of one process: a sketch of each day, and days by the machine's time as it was at the beginning.

use std::{collections::BTreeMap, time::Duration};

use futures::FutureExt;
use jiff::civil::Date;

use super::{
    backend::{Answer, Asked, Backend, Counted},
    calendar::{Calendar, Day, Time},
    count::Figures,
    sketch::Sketch,
    time::millis,
    visitor::Visitor,
};
use crate::{
    clock::{Clock, Moment},
    sync::Mutex,
};

/// One counter in this process.
#[derive(Debug)]
pub(crate) struct MemoryBackend {
    calendar: Calendar,
    clock: Clock,
    /// The time of day when the clock began.
    began: Duration,
    days: Mutex<Days>,
}

/// The days that are kept.
#[derive(Debug)]
struct Days {
    today: Day,
    sketches: BTreeMap<Date, Sketch>,
}

impl MemoryBackend {
    pub(super) fn new(calendar: Calendar, clock: Clock, began: Duration) -> Self {
        let today = calendar.day(time(&clock, began));
        let days = Mutex::new(Days { today, sketches: BTreeMap::new() });
        Self { calendar, clock, began, days }
    }

    /// Does `work` with the days, once it is certain which one it is.
    fn with<T>(&self, work: impl FnOnce(&mut Days) -> T) -> T {
        let now = time(&self.clock, self.began);
        let mut days = self.days.lock();
        if !days.today.has(now) {
            days.today = self.calendar.day(now);
            let oldest = self.calendar.oldest(days.today.date);
            days.sketches.retain(|date, _| *date >= oldest);
        }
        work(&mut days)
    }
}

impl Days {
    fn count(&self, asked: Asked) -> Counted {
        let today = self.today.date;
        let span = asked.span(today);
        let mut union = Sketch::default();
        self.sketches.range(span[0]..=span[1]).for_each(|(_, sketch)| union.join(sketch));
        Counted { visitors: union.estimate(), span, today }
    }
}

impl Backend for MemoryBackend {
    fn record(&self, visitor: Visitor) {
        self.with(|days| days.sketches.entry(days.today.date).or_default().add(visitor));
    }

    fn flush(&self) -> Answer<'_, ()> {
        async { Ok(()) }.boxed()
    }

    fn count(&self, asked: Asked) -> Answer<'_, Counted> {
        async move { Ok(self.with(|days| days.count(asked))) }.boxed()
    }

    fn figures(&self) -> Figures {
        Figures::default()
    }

    fn close(&self) -> usize {
        0
    }
}

/// What time it is, as this process reckons.
fn time(clock: &Clock, began: Duration) -> Time {
    millis(began + clock.now().since(Moment::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_cannot_be_counted_any_more_take_no_room() {
        let (clock, manual) = Clock::manual();
        let calendar = Calendar::new("UTC", 8).unwrap();
        let backend = MemoryBackend::new(calendar, clock, Duration::from_secs(1_800_000_000));
        for _ in 0..30 {
            backend.record(Visitor::of("ada"));
            manual.advance(Duration::from_hours(24));
        }
        assert_eq!(backend.with(|days| days.sketches.len()), 8);
    }
}

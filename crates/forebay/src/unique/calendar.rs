//! The days of a time zone, and for how long each is kept.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};

use crate::error::{Error, ErrorKind};

/// Milliseconds since 1970.
pub(super) type Time = i64;

/// More are neither asked for nor kept: each is a key of 14 KB.
const MOST_DAYS: u32 = 400;

/// Which day it is, and when days begin and end.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    zone: TimeZone,
    keep_days: u32,
}

/// One day of a calendar: 23, 24 or 25 hours, and others where a zone has moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) date: Date,
    /// Its first moment.
    pub(super) from: Time,
    /// The first moment of the next.
    pub(super) until: Time,
}

impl Day {
    pub(super) fn has(&self, time: Time) -> bool {
        (self.from..self.until).contains(&time)
    }
}

impl Calendar {
    /// The calendar of a zone by its IANA name.
    pub(super) fn new(zone: &str, keep_days: u32) -> Result<Self, Error> {
        if !(1..=MOST_DAYS).contains(&keep_days) {
            let why = format!("keep_days is {keep_days}; use 1 to {MOST_DAYS}, of which 8 is the default");
            return Err(Error::new(ErrorKind::Config, why));
        }
        let zone = TimeZone::get(zone).map_err(|error| {
            let why = format!("time_zone {zone:?} is not known; use an IANA name such as Europe/Berlin");
            Error::new(ErrorKind::Config, why).with_source(error)
        })?;
        Ok(Self { zone, keep_days })
    }

    pub(super) fn keep_days(&self) -> u32 {
        self.keep_days
    }

    pub(super) fn day(&self, time: Time) -> Day {
        let time = Timestamp::from_millisecond(time).unwrap_or_default();
        let date = self.zone.to_datetime(time).date();
        Day { date, from: self.begins(date), until: self.begins(after(date, 1)) }
    }

    /// When a day is no longer kept.
    pub(super) fn ends(&self, day: &Day) -> Time {
        self.begins(after(day.date, self.keep_days + 1))
    }

    /// The first of the dates that are kept whole on `today`.
    pub(super) fn oldest(&self, today: Date) -> Date {
        before(today, self.keep_days)
    }

    /// A midnight that the clocks leave out is the moment at which they are moved.
    fn begins(&self, date: Date) -> Time {
        let begins = self.zone.to_timestamp(date.at(0, 0, 0, 0));
        begins.map_or(Time::MAX, Timestamp::as_millisecond)
    }
}

pub(super) fn after(date: Date, days: u32) -> Date {
    date.saturating_add(Span::new().days(days))
}

pub(super) fn before(date: Date, days: u32) -> Date {
    date.saturating_sub(Span::new().days(days))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    const HOUR: Time = 3_600_000;

    fn noon(zone: &str, date: Date) -> Time {
        let noon = TimeZone::get(zone).unwrap().to_timestamp(date.at(12, 0, 0, 0));
        noon.unwrap().as_millisecond()
    }

    fn day(zone: &str, date: Date) -> Day {
        Calendar::new(zone, 8).unwrap().day(noon(zone, date))
    }

    #[test]
    fn days_on_which_clocks_are_moved_are_an_hour_shorter_and_longer() {
        for (date, hours) in [
            (date(2027, 3, 27), 24),
            (date(2027, 3, 28), 23),
            (date(2027, 10, 31), 25),
            (date(2027, 11, 1), 24),
        ] {
            let day = day("Europe/Berlin", date);
            assert_eq!((day.date, day.until - day.from), (date, hours * HOUR));
        }
    }

    #[test]
    fn every_moment_belongs_to_one_day_wherever_midnight_is_moved() {
        // Midnight is left out, comes twice, or a whole day is left out.
        for (zone, from) in [
            ("Asia/Beirut", date(2027, 3, 26)),
            ("America/Havana", date(2025, 11, 1)),
            ("America/Sao_Paulo", date(2018, 11, 3)),
            ("Pacific/Apia", date(2011, 12, 28)),
        ] {
            let calendar = Calendar::new(zone, 8).unwrap();
            let mut day = day(zone, from);
            for _ in 0..5 {
                let next = calendar.day(day.until);
                assert_eq!((next.from, calendar.day(day.until - 1)), (day.until, day), "{zone}");
                day = next;
            }
        }
    }

    #[test]
    fn a_day_is_kept_until_it_is_no_part_of_the_days_that_can_be_counted() {
        let calendar = Calendar::new("Europe/Berlin", 8).unwrap();
        let today = day("Europe/Berlin", date(2027, 4, 2));
        let oldest = day("Europe/Berlin", calendar.oldest(today.date));
        assert_eq!(oldest.date, date(2027, 3, 25));
        assert_eq!(calendar.ends(&oldest), today.until);
    }

    #[test]
    fn what_is_no_zone_is_refused_by_name() {
        let refusal = Calendar::new("Europe/Atlantis", 8).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("Europe/Atlantis"), "{refusal}");
        assert!(Calendar::new("UTC", 8).is_ok());
        for days in [0, MOST_DAYS + 1, u32::MAX] {
            assert!(Calendar::new("UTC", days).unwrap_err().to_string().contains("keep_days"));
        }
    }
}

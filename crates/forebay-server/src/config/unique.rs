//! The table `[unique]`: whose days are counted, and for how long they are kept.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use serde::Deserialize;

/// The days before today that a week has.
const WEEK: u32 = 6;

/// The most days that the library keeps.
const MOST_DAYS: u32 = 400;

/// Settings of counters. File only.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [unique]")]
pub(crate) struct Unique {
    /// The zone whose days are counted, by its IANA name. Default: `UTC`.
    time_zone: String,
    /// How many days before today are kept, and so how many can be counted together. Default: 8, a week and a day.
    keep_days: u32,
    /// The counters that are declared, with what is not as above. Others are made when they are first named.
    counters: BTreeMap<String, Declared>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [unique.counters.\"…\"]")]
struct Declared {
    time_zone: Option<String>,
    keep_days: Option<u32>,
}

/// Options of a counter.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) time_zone: String,
    pub(crate) keep_days: u32,
}

impl Default for Unique {
    /// As in the library.
    fn default() -> Self {
        Self { time_zone: "UTC".to_owned(), keep_days: 8, counters: BTreeMap::new() }
    }
}

impl Unique {
    /// A counter that nobody declared.
    pub(crate) fn undeclared(&self) -> Counter {
        Counter { time_zone: self.time_zone.clone(), keep_days: self.keep_days }
    }

    /// The declared counters.
    pub(crate) fn counters(&self) -> impl Iterator<Item = (&str, Counter)> {
        self.counters.iter().map(|(name, declared)| (name.as_str(), self.completed(declared)))
    }

    /// What is legal, and likely not what was meant.
    pub(super) fn doubts(&self) -> Vec<String> {
        let short = |(name, counter): (&str, Counter)| {
            let why = "a week, as /analytics/uv/weekly counts it, has days that are gone";
            let days = counter.keep_days;
            (days < WEEK).then(|| format!("`unique.counters.\"{name}\".keep_days` is {days}: {why}"))
        };
        self.counters().filter_map(short).collect()
    }

    fn completed(&self, declared: &Declared) -> Counter {
        Counter {
            time_zone: declared.time_zone.clone().unwrap_or_else(|| self.time_zone.clone()),
            keep_days: declared.keep_days.unwrap_or(self.keep_days),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        check("unique", Some(&self.time_zone), Some(self.keep_days))?;
        self.counters.iter().try_for_each(|(name, declared)| {
            let table = format!("unique.counters.\"{name}\"");
            check(&table, declared.time_zone.as_deref(), declared.keep_days)
        })
    }
}

fn check(table: &str, time_zone: Option<&str>, keep_days: Option<u32>) -> Result<(), String> {
    if let Some(zone) = time_zone.filter(|zone| TimeZone::get(zone).is_err()) {
        return Err(format!("`{table}.time_zone` is `{zone}`; give an IANA name, such as Europe/Berlin"));
    }
    match keep_days {
        Some(days) if !(1..=MOST_DAYS).contains(&days) => {
            Err(format!("`{table}.keep_days` is {days}; give 1 to {MOST_DAYS}, or leave it out for 8"))
        }
        _ => Ok(()),
    }
}

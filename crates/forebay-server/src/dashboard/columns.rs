//! Which figures have a history: the one table from metrics to columns.

use std::sync::LazyLock;

use forebay::metrics::{
    self,
    table::{CACHE_LOAD_SECONDS, CACHE_REQUEST_SECONDS, Metric, REDIS_COMMAND_SECONDS},
};

use super::scrape::{Scrape, Series};

/// One figure, summed over all spaces, policies and topics.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    family: &'static str,
    only: Only,
    kind: Kind,
}

/// Which series of the family are summed.
#[derive(Debug, Clone, Copy)]
enum Only {
    All,
    /// Those in which a label has one of these values.
    Where(&'static str, &'static [&'static str]),
    /// Those that count up to a bound.
    Within(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Grows only; a row has by how much.
    Counter,
    /// A row has it as it stands, and a row of several seconds the highest.
    Gauge,
    /// Likewise, but the lowest: 0 is what must not be lost.
    Lowest,
}

type Row = (&'static str, &'static str, Only, Kind);

const fn all(name: &'static str, family: &'static str) -> Row {
    (name, family, Only::All, Kind::Counter)
}

const fn only(
    name: &'static str,
    family: &'static str,
    label: &'static str,
    values: &'static [&'static str],
) -> Row {
    (name, family, Only::Where(label, values), Kind::Counter)
}

const fn outcome(name: &'static str, family: &'static str, outcomes: &'static [&'static str]) -> Row {
    only(name, family, "outcome", outcomes)
}

const fn gauge(name: &'static str, family: &'static str) -> Row {
    (name, family, Only::All, Kind::Gauge)
}

const fn lowest(name: &'static str, family: &'static str) -> Row {
    (name, family, Only::All, Kind::Lowest)
}

const READS: &str = "forebay_cache_requests_total";
const LOADS: &str = "forebay_cache_loads_total";
const CHANGES: &str = "forebay_cache_changes_total";
const CHECKS: &str = "forebay_limiter_decisions_total";
const LOCKS: &str = "forebay_lock_requests_total";
const BEGINS: &str = "forebay_idempotency_begins_total";
const CLAIMS: &str = "forebay_claims_total";
const VISITORS: &str = "forebay_visitors_total";
const HTTP: &str = "forebay_http_requests_total";

const TABLE: &[Row] = &[
    outcome("reads_memory", READS, &["memory"]),
    outcome("reads_store", READS, &["store"]),
    outcome("reads_stale", READS, &["stale"]),
    outcome("reads_coalesced", READS, &["coalesced"]),
    outcome("reads_absent", READS, &["absent", "filtered"]),
    outcome("reads_loaded", READS, &["loaded"]),
    outcome("reads_miss", READS, &["miss"]),
    outcome("reads_failed", READS, &["failed"]),
    outcome("loads", LOADS, &["value", "absent", "failed", "timed_out", "panicked"]),
    outcome("loads_failed", LOADS, &["failed", "timed_out", "panicked"]),
    outcome("loads_refused", LOADS, &["overloaded", "refused"]),
    outcome("fills", "forebay_cache_fills_total", &["stored"]),
    outcome("fills_lost", "forebay_cache_fills_total", &["refused"]),
    all("flights", "forebay_cache_flight_callers_count"),
    all("flight_callers", "forebay_cache_flight_callers_sum"),
    outcome("waits", "forebay_cache_request_duration_seconds_count", &["coalesced"]),
    outcome("waits_seconds", "forebay_cache_request_duration_seconds_sum", &["coalesced"]),
    all("waits_cancelled", "forebay_cache_cancelled_waits_total"),
    only("changes_own", CHANGES, "source", &["put", "invalidate", "expire", "tag", "clear", "matching"]),
    only("changes_heard", CHANGES, "source", &["heard", "written"]),
    gauge("memory_entries", "forebay_cache_memory_entries"),
    gauge("memory_bytes", "forebay_cache_memory_bytes"),
    gauge("memory_limit", "forebay_cache_memory_limit_bytes"),
    gauge("deferred", "forebay_cache_deferred_changes"),
    gauge("deferred_age", "forebay_cache_deferred_age_seconds"),
    outcome("checks_allowed", CHECKS, &["allowed"]),
    outcome("checks_refused", CHECKS, &["denied", "remembered", "never_fits"]),
    outcome("checks_unavailable", CHECKS, &["unavailable"]),
    outcome("locks_acquired", LOCKS, &["acquired"]),
    outcome("locks_busy", LOCKS, &["busy"]),
    outcome("locks_unavailable", LOCKS, &["unavailable"]),
    all("locks_lost", "forebay_locks_lost_total"),
    gauge("locks_waiting", "forebay_locks_waiting"),
    outcome("once_run", BEGINS, &["run"]),
    outcome("once_done", BEGINS, &["done"]),
    outcome("once_running", BEGINS, &["running"]),
    outcome("once_other", BEGINS, &["mismatch", "indeterminate", "unreadable", "unavailable"]),
    outcome("claims_claimed", CLAIMS, &["claimed"]),
    outcome("claims_taken", CLAIMS, &["taken"]),
    outcome("visitors_counted", VISITORS, &["counted"]),
    outcome("visitors_dropped", VISITORS, &["dropped"]),
    lowest("redis_usable", "forebay_redis_usable"),
    gauge("redis_in_flight", "forebay_redis_in_flight"),
    gauge("redis_breakers_open", "forebay_redis_breakers_open"),
    all("redis_errors", "forebay_redis_errors_total"),
    lowest("bus_hears", "forebay_bus_hears"),
    all("bus_messages", "forebay_bus_messages_total"),
    gauge("bus_lag", "forebay_bus_lag_seconds"),
    all("bus_gaps", "forebay_bus_gaps_total"),
    gauge("bus_bound", "forebay_bus_staleness_bound_seconds"),
    gauge("bus_processes", "forebay_bus_processes"),
    all("http_requests", HTTP),
    only("http_errors", HTTP, "status", &["500", "502", "503", "504"]),
    all("read_count", "forebay_cache_request_duration_seconds_count"),
    all("load_count", "forebay_cache_load_duration_seconds_count"),
    all("redis_count", "forebay_redis_command_duration_seconds_count"),
];

/// What is counted by classes: how its columns begin, the metric, and the family of its classes.
const CLASSES: [(&str, Metric, &str); 3] = [
    ("read", CACHE_REQUEST_SECONDS, "forebay_cache_request_duration_seconds_bucket"),
    ("load", CACHE_LOAD_SECONDS, "forebay_cache_load_duration_seconds_bucket"),
    ("redis", REDIS_COMMAND_SECONDS, "forebay_redis_command_duration_seconds_bucket"),
];

/// All columns, in the order of a row.
pub(super) static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let named =
        TABLE.iter().map(|&(name, family, only, kind)| Column { name: name.to_owned(), family, only, kind });
    let classes = CLASSES.iter().flat_map(|(name, metric, family)| {
        bounds(metric).iter().map(|bound| Column::class(name, family, *bound))
    });
    named.chain(classes).collect()
});

fn bounds(metric: &Metric) -> &'static [f64] {
    match metric.kind {
        metrics::table::Kind::Histogram(bounds) => bounds,
        _ => &[],
    }
}

impl Column {
    fn class(name: &str, family: &'static str, bound: f64) -> Self {
        Self {
            name: format!("{name}_within:{bound}"),
            family,
            only: Only::Within(bound),
            kind: Kind::Counter,
        }
    }

    /// The figure as `/metrics` has it; of a gauge that is not there, no number.
    pub(super) fn total(&self, scrape: &Scrape) -> f64 {
        let total = scrape.sum(self.family, |series| self.only.takes(series));
        total.unwrap_or(if self.kind == Kind::Counter { 0.0 } else { f64::NAN })
    }

    /// What a row has, from the totals of two moments.
    pub(super) fn cell(&self, before: f64, now: f64) -> f64 {
        match self.kind {
            Kind::Counter => (now - before).max(0.0),
            Kind::Gauge | Kind::Lowest => now,
        }
    }

    /// What one row has for the time of two.
    pub(super) fn merged(&self, one: f32, other: f32) -> f32 {
        match self.kind {
            Kind::Counter => one + other,
            // These take the one that is a number where the other is none.
            Kind::Gauge => one.max(other),
            Kind::Lowest => one.min(other),
        }
    }
}

impl Only {
    fn takes(self, series: &Series) -> bool {
        match self {
            Self::All => true,
            Self::Where(label, values) => values.contains(&series.label(label)),
            Self::Within(bound) => {
                series.label("le").parse::<f64>().is_ok_and(|le| (le - bound).abs() < bound * 1e-9)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn column(name: &str) -> &'static Column {
        COLUMNS.iter().find(|column| column.name == name).unwrap()
    }

    /// That of which `family` is a part: a histogram has three families.
    fn metric(family: &str) -> &'static Metric {
        let ends = ["", "_bucket", "_sum", "_count"];
        let is_its = |metric: &&Metric| ends.iter().any(|end| family == format!("{}{end}", metric.name));
        metrics::table::TABLE.iter().find(is_its).unwrap_or_else(|| panic!("{family} is in no table"))
    }

    #[test]
    fn columns_are_of_metrics_that_there_are_and_of_labels_that_they_have() {
        for column in COLUMNS.iter() {
            let metric = metric(column.family);
            let is_gauge = matches!(metric.kind, metrics::table::Kind::Gauge);
            assert_eq!(is_gauge, column.kind != Kind::Counter, "{}", column.name);
            let Only::Where(label, values) = column.only else { continue };
            let label = metric.labels.iter().find(|known| known.name == label).expect(&column.name);
            let is_known = |value: &&str| label.values.is_empty() || label.values.contains(value);
            assert!(values.iter().all(is_known), "{}", column.name);
        }
        assert!(
            CLASSES.iter().all(|(_, metric, family)| family.strip_suffix("_bucket") == Some(metric.name))
        );
    }

    #[test]
    fn every_read_is_in_one_column() {
        let read: Vec<_> = COLUMNS.iter().filter(|column| column.family == READS).collect();
        for outcome in metric(READS).labels[1].values {
            let line = format!("{READS}{{space=\"a\",outcome=\"{outcome}\"}} 1");
            let scrape = Scrape::read(&line);
            assert_eq!(read.iter().map(|column| column.total(&scrape)).sum::<f64>(), 1.0, "{outcome}");
        }
    }

    #[test]
    fn names_differ() {
        let names: HashSet<_> = COLUMNS.iter().map(|column| &column.name).collect();
        assert_eq!(names.len(), COLUMNS.len());
    }

    #[test]
    fn of_several_seconds_the_one_that_matters_stays() {
        assert_eq!(column("redis_breakers_open").merged(1.0, 0.0), 1.0);
        assert_eq!(column("redis_usable").merged(0.0, 1.0), 0.0);
        assert_eq!(column("bus_hears").merged(f32::NAN, 1.0), 1.0);
    }

    #[test]
    fn a_column_sums_the_outcomes_that_belong_to_it() {
        let scrape = Scrape::read(
            "forebay_cache_requests_total{space=\"a\",outcome=\"absent\"} 3\n\
             forebay_cache_requests_total{space=\"b\",outcome=\"filtered\"} 4\n\
             forebay_cache_requests_total{space=\"b\",outcome=\"memory\"} 5\n\
             forebay_cache_load_duration_seconds_bucket{space=\"b\",le=\"0.1\"} 6\n\
             forebay_cache_load_duration_seconds_bucket{space=\"b\",le=\"+Inf\"} 7\n",
        );
        assert_eq!(column("reads_absent").total(&scrape), 7.0);
        assert_eq!(column("load_within:0.1").total(&scrape), 6.0);
        assert_eq!(column("locks_lost").total(&scrape), 0.0);
        assert!(column("redis_usable").total(&scrape).is_nan());
    }
}

//! All metrics in one table: what describes them, and what dashboards and alerts may name.

use crate::observe::{
    BeginOutcome, ChangeSource, CheckOutcome, ClaimOutcome, CompleteOutcome, FillOutcome, FilterOutcome,
    LoadOutcome, TopicOutcome, VisitorsOutcome,
};

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name, as Prometheus writes it.
    pub name: &'static str,
    /// What is counted or measured, and how.
    pub kind: Kind,
    /// In what.
    pub unit: Unit,
    /// What it says, in one sentence.
    pub help: &'static str,
    /// What it is split by.
    pub labels: &'static [Label],
}

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Grows, and begins again at zero with the process.
    Counter,
    /// What there is at present.
    Gauge,
    /// What was measured each time, with the bounds of buckets that fit it.
    Histogram(&'static [f64]),
}

impl Kind {
    /// As Prometheus calls it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// In what something is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// In whole numbers, or in 0 and 1.
    Count,
    /// In seconds.
    Seconds,
    /// In bytes.
    Bytes,
}

/// What a metric is split by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The name of the label.
    pub name: &'static str,
    /// All values that it can have; none where the application, or the library, has names for them.
    pub values: &'static [&'static str],
}

const fn named(name: &'static str) -> Label {
    Label { name, values: &[] }
}

const fn outcome(values: &'static [&'static str]) -> Label {
    Label { name: "outcome", values }
}

const SPACE: Label = named("space");

/// From what a look into the machine's memory takes to what nobody waits for any more.
const SECONDS: &[f64] = &[
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

const CALLERS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 10_000.0];

macro_rules! table {
    ($($constant:ident = $name:literal, $kind:expr, $unit:ident, [$($label:expr),*], $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Metric = Metric {
                name: $name,
                kind: $kind,
                unit: Unit::$unit,
                help: $help,
                labels: &[$($label),*],
            };
        )*

        /// All metrics.
        pub const TABLE: &[Metric] = &[$($constant),*];
    };
}

use Kind::{Counter, Gauge, Histogram};

table! {
    CACHE_REQUESTS = "forebay_cache_requests_total", Counter, Count,
        [SPACE, outcome(&["memory", "store", "stale", "loaded", "coalesced", "absent", "filtered", "miss", "failed"])],
        "Reads of a cache by what answered them.";
    CACHE_REQUEST_SECONDS = "forebay_cache_request_duration_seconds", Histogram(SECONDS), Seconds,
        [SPACE, outcome(&["store", "stale", "loaded", "coalesced", "absent", "filtered", "miss", "failed"])],
        "How long reads took that process memory did not answer; those that the load of another has answered are coalesced.";
    CACHE_LOADS = "forebay_cache_loads_total", Counter, Count, [SPACE, outcome(LoadOutcome::WORDS)],
        "Loads from the origin by how they ended, those of callers that load by themselves included.";
    CACHE_LOAD_SECONDS = "forebay_cache_load_duration_seconds", Histogram(SECONDS), Seconds, [SPACE],
        "How long loads from the origin took, whatever they brought.";
    CACHE_FILLS = "forebay_cache_fills_total", Counter, Count, [SPACE, outcome(FillOutcome::WORDS)],
        "Loaded values by what became of them.";
    CACHE_FLIGHT_CALLERS = "forebay_cache_flight_callers", Histogram(CALLERS), Count, [SPACE],
        "How many callers waited for one flight, which is what they wait for together; 1 was alone.";
    CACHE_CANCELLED_WAITS = "forebay_cache_cancelled_waits_total", Counter, Count, [SPACE],
        "Callers that went away before they had an answer.";
    CACHE_CHANGES = "forebay_cache_changes_total", Counter, Count,
        [SPACE, Label { name: "source", values: ChangeSource::WORDS }],
        "What has taken values out of use: this process, by what it did, or what it heard of others.";
    CACHE_UNREADABLE = "forebay_cache_unreadable_total", Counter, Count, [SPACE],
        "Stored entries that could not be read, and so were misses.";
    CACHE_BREAKER_OPENED = "forebay_cache_origin_breaker_opened_total", Counter, Count, [SPACE],
        "How often the origin failed so often that it is left alone for a while.";
    CACHE_MEMORY_ENTRIES = "forebay_cache_memory_entries", Gauge, Count, [],
        "Entries in process memory.";
    CACHE_MEMORY_BYTES = "forebay_cache_memory_bytes", Gauge, Bytes, [],
        "How much of its budget process memory uses.";
    CACHE_MEMORY_LIMIT_BYTES = "forebay_cache_memory_limit_bytes", Gauge, Bytes, [],
        "The budget of process memory.";
    CACHE_DEFERRED_CHANGES = "forebay_cache_deferred_changes", Gauge, Count, [],
        "Changes of this process that Redis has not confirmed.";
    CACHE_DEFERRED_AGE_SECONDS = "forebay_cache_deferred_age_seconds", Gauge, Seconds, [],
        "For how long the oldest of the deferred changes has been waiting.";
    BUS_HEARS = "forebay_bus_hears", Gauge, Count, [],
        "1 while this process hears what others change, 0 while it does not trust its memory.";
    BUS_MESSAGES = "forebay_bus_messages_total", Counter, Count, [],
        "Messages of the bus that were heard, heartbeats and own ones included.";
    BUS_LAG_SECONDS = "forebay_bus_lag_seconds", Gauge, Seconds, [],
        "How long the own heartbeat took to come back, or has not come back by now.";
    BUS_GAPS = "forebay_bus_gaps_total", Counter, Count, [],
        "How often messages may have been missed, upon which process memory is not trusted.";
    BUS_STALENESS_BOUND_SECONDS = "forebay_bus_staleness_bound_seconds", Gauge, Seconds, [],
        "For how long process memory may serve what another process has invalidated, at most.";
    BUS_PROCESSES = "forebay_bus_processes", Gauge, Count, [],
        "Processes of the application on the bus, with this one.";
    LIMITER_DECISIONS = "forebay_limiter_decisions_total", Counter, Count,
        [named("policy"), named("tier"), outcome(CheckOutcome::WORDS)],
        "Decisions of limiters.";
    LIMITER_UNREADABLE = "forebay_limiter_unreadable_total", Counter, Count, [named("policy")],
        "Stored counts of limiters that could not be read, and so began anew.";
    LOCK_REQUESTS = "forebay_lock_requests_total", Counter, Count,
        [outcome(&["acquired", "busy", "unavailable"])],
        "Locks that were asked for.";
    LOCKS_LOST = "forebay_locks_lost_total", Counter, Count, [],
        "Locks that their holders lost before they let go of them.";
    LOCKS_HELD = "forebay_locks_held", Gauge, Count, [],
        "Locks that are held by a guard in this process; those that clients of the server hold are not among them.";
    LOCKS_WAITING = "forebay_locks_waiting", Gauge, Count, [],
        "Callers in this process that wait for a lock which somebody else has.";
    IDEMPOTENCY_BEGINS = "forebay_idempotency_begins_total", Counter, Count, [outcome(BeginOutcome::WORDS)],
        "What was to run once, by how it stood with that.";
    IDEMPOTENCY_COMPLETIONS = "forebay_idempotency_completions_total", Counter, Count,
        [outcome(CompleteOutcome::WORDS)],
        "What has run once, by what became of its record.";
    CLAIMS = "forebay_claims_total", Counter, Count, [outcome(ClaimOutcome::WORDS)],
        "Names that somebody wanted to claim.";
    VISITORS = "forebay_visitors_total", Counter, Count, [named("counter"), outcome(VisitorsOutcome::WORDS)],
        "Visitors that were sent to be counted in Redis; one counts again after a while.";
    FILTER_CHECKS = "forebay_filter_checks_total", Counter, Count,
        [named("filter"), outcome(FilterOutcome::WORDS)],
        "Ids that filters were asked about.";
    TOPIC_MESSAGES = "forebay_topic_messages_total", Counter, Count,
        [named("topic"), outcome(TopicOutcome::WORDS)],
        "Messages of topics by what happened to them.";
    REDIS_COMMAND_SECONDS = "forebay_redis_command_duration_seconds", Histogram(SECONDS), Seconds,
        [named("command")],
        "How long requests to Redis took, those that were not answered included.";
    REDIS_ERRORS = "forebay_redis_errors_total", Counter, Count,
        [Label { name: "kind", values: &["timeout", "lost", "not_sent", "refused"] }],
        "Requests to Redis that were not answered as they should be.";
    REDIS_USABLE = "forebay_redis_usable", Gauge, Count, [],
        "1 while every node of Redis can be asked.";
    REDIS_IN_FLIGHT = "forebay_redis_in_flight", Gauge, Count, [],
        "Requests that Redis has not answered yet.";
    REDIS_BREAKERS_OPEN = "forebay_redis_breakers_open", Gauge, Count, [],
        "Nodes of Redis that are left alone, as they do not answer.";
    HTTP_REQUESTS = "forebay_http_requests_total", Counter, Count,
        [named("route"), named("method"), named("status")],
        "Requests that the server has answered.";
    HTTP_REQUEST_SECONDS = "forebay_http_request_duration_seconds", Histogram(SECONDS), Seconds,
        [named("route")],
        "How long the server took to begin its answers.";
    BUILD_INFO = "forebay_build_info", Gauge, Count, [named("version")],
        "Always 1; the version is in the label.";
    START_TIME_SECONDS = "forebay_start_time_seconds", Gauge, Seconds, [],
        "When this process began to tell its figures, in seconds since 1970.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::observe::{CommandOutcome, LockOutcome, ReadOutcome};

    #[test]
    fn names_are_as_prometheus_wants_them() {
        let names: HashSet<&str> = TABLE.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), TABLE.len());
        for Metric { name, kind, unit, help, .. } in TABLE {
            assert_eq!(*kind == Counter, name.ends_with("_total"), "{name}");
            assert_eq!(*unit == Unit::Seconds, name.ends_with("_seconds"), "{name}");
            assert_eq!(*unit == Unit::Bytes, name.ends_with("_bytes"), "{name}");
            assert!(help.ends_with('.') && !help.contains('\n'), "{name}: {help}");
        }
    }

    #[test]
    fn labels_have_the_words_of_outcomes() {
        assert_eq!(CACHE_REQUESTS.labels[1].values[1..], *ReadOutcome::WORDS);
        assert_eq!(CACHE_REQUEST_SECONDS.labels[1].values, ReadOutcome::WORDS);
        assert_eq!(LOCK_REQUESTS.labels[0].values, &LockOutcome::WORDS[..3]);
        assert_eq!(REDIS_ERRORS.labels[0].values, &CommandOutcome::WORDS[1..]);
    }
}

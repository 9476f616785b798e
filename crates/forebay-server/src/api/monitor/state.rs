//! What the servers are, and how they stand.

use std::time::Duration;

use forebay::{
    health::{ClockDifference, Figures},
    status::{RoundTrips, Status},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::words::{role, rounded};
use crate::api::answer::micros;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisServer)]
pub(super) struct About {
    software: Option<String>,
    version: Option<String>,
    mode: Option<String>,
    role: Option<&'static str>,
    uptime_in_seconds: Option<u64>,
    uptime_in_days: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisPersistence)]
pub(super) struct Persistence {
    aof_enabled: Option<bool>,
    aof_last_write_ok: Option<bool>,
    rdb_last_save_ok: Option<bool>,
    rdb_changes_since_last_save: Option<u64>,
    loading: Option<bool>,
}

/// How far the clock of the server is ahead of this machine's; negative where it is behind.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisClock)]
pub(super) struct Clock {
    ahead_ms: i64,
    error_ms: f64,
}

/// How long calls of this server take.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisRoundTrip)]
pub(super) struct RoundTrip {
    count: u64,
    p50_us: Option<u64>,
    p95_us: Option<u64>,
    p99_us: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisBreaker)]
pub(super) struct Breaker {
    open: bool,
    nodes: usize,
    nodes_down: usize,
}

/// By how many milliseconds the clock of a server is ahead of this machine's; negative where it is behind.
pub(in crate::api) fn ahead(difference: ClockDifference) -> i64 {
    let by = i64::try_from(difference.by.as_millis()).unwrap_or(i64::MAX);
    if difference.ahead { by } else { -by }
}

impl About {
    /// The first one stands for all; it is named which node is older.
    pub(super) fn of(figures: &[&Figures]) -> Self {
        let first = figures.first();
        let uptime = figures.iter().filter_map(|figures| figures.uptime).min().map(|uptime| uptime.as_secs());
        Self {
            software: first.map(|figures| figures.software.clone()),
            version: first.map(|figures| figures.version.clone()),
            mode: first.and_then(|figures| figures.mode.clone()),
            role: first.and_then(|figures| role(figures.replication.is_replica)),
            uptime_in_seconds: uptime,
            uptime_in_days: uptime.map(|seconds| seconds / (24 * 3_600)),
        }
    }
}

impl Persistence {
    /// What holds for all, or what is wrong with any.
    pub(super) fn of(figures: &[&Figures]) -> Self {
        let each = |wanted: fn(&Figures) -> Option<bool>| figures.iter().filter_map(move |one| wanted(one));
        let all = |wanted| each(wanted).reduce(|all, one| all && one);
        let unsaved =
            figures.iter().filter_map(|figures| figures.persistence.unsaved).reduce(|sum, one| sum + one);
        Self {
            aof_enabled: all(|figures| figures.persistence.append_only),
            aof_last_write_ok: all(|figures| figures.persistence.append_ok),
            rdb_last_save_ok: all(|figures| figures.persistence.snapshot_ok),
            rdb_changes_since_last_save: unsaved,
            loading: each(|figures| figures.persistence.loading).reduce(|any, one| any || one),
        }
    }
}

impl Clock {
    pub(super) fn of(difference: ClockDifference) -> Self {
        let error_ms = rounded(difference.error.as_secs_f64() * 1_000.0, 3);
        Self { ahead_ms: ahead(difference), error_ms }
    }
}

impl RoundTrip {
    pub(super) fn of(trips: &RoundTrips) -> Self {
        let [p50_us, p95_us, p99_us] =
            [trips.p50, trips.p95, trips.p99].map(|span: Option<Duration>| span.map(micros));
        Self { count: trips.count, p50_us, p95_us, p99_us }
    }
}

impl Breaker {
    pub(super) fn of(status: &Status) -> Self {
        match status {
            Status::Redis(redis) => {
                Self { open: !redis.usable, nodes: redis.nodes, nodes_down: redis.nodes_down }
            }
            _ => Self { open: false, nodes: 0, nodes_down: 0 },
        }
    }
}

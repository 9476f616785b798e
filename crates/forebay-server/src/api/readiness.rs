//! What `/readyz` says: whether the server should be sent requests, and what is not as it should be.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use forebay::{
    health::Health as Told,
    status::{RedisStatus, Status},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{
    answer::{micros, millis},
    monitor::ahead,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ready,
    /// It serves, though not as well as it could.
    Degraded,
    Down,
}

/// The members of the answer.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(super) struct Report {
    status: Health,
    /// By component.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reasons: BTreeMap<&'static str, String>,
    #[serde(flatten)]
    figures: Option<Figures>,
}

#[derive(Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = ReadinessFigures)]
struct Figures {
    #[schema(value_type = Object)]
    components: Map<String, Value>,
    store: &'static str,
}

/// A part of the server, with why it is degraded if it is.
struct Component {
    name: &'static str,
    reason: Option<String>,
    figures: Value,
}

impl Report {
    /// Reports on a server that stands so with its store, and is `draining` if a shutdown has begun.
    pub(super) fn of(status: &Status, draining: bool) -> Self {
        let (store, components) = match status {
            Status::Redis(redis) => ("redis", components(redis)),
            _ => ("memory", Vec::new()),
        };
        let reasons: BTreeMap<_, _> =
            components.iter().filter_map(|part| Some((part.name, part.reason.clone()?))).collect();
        let status = match (draining, reasons.is_empty()) {
            (true, _) => Health::Down,
            (false, true) => Health::Ready,
            (false, false) => Health::Degraded,
        };
        let components = components.into_iter().map(|part| (part.name.to_owned(), part.verbose())).collect();
        Self { status, reasons, figures: Some(Figures { components, store }) }
    }

    /// Adds what Redis tells of itself.
    pub(super) fn with(mut self, told: &Told) -> Self {
        if let (Some(figures), Told::Redis(told)) = (&mut self.figures, told)
            && let Some(redis) = figures.components.get_mut("redis")
            && let Some(of) = told.servers.iter().find_map(|server| server.figures.as_ref())
        {
            redis["version"] = json!(format!("{} {}", of.software, of.version));
            redis["clock_ahead_ms"] = json!(of.clock.map(ahead));
        }
        self
    }

    /// The same without its figures.
    pub(super) fn in_short(self) -> Self {
        Self { figures: None, ..self }
    }

    pub(super) fn code(&self) -> StatusCode {
        match self.status {
            Health::Ready | Health::Degraded => StatusCode::OK,
            Health::Down => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Component {
    fn verbose(self) -> Value {
        let mut members = self.figures;
        let status = if self.reason.is_some() { Health::Degraded } else { Health::Ready };
        members["status"] = json!(status);
        members
    }
}

fn components(redis: &RedisStatus) -> Vec<Component> {
    let tracking = redis.tracks.map(tracking);
    [connection(redis), bus(redis)].into_iter().chain(tracking).chain([deferred(redis)]).collect()
}

fn connection(redis: &RedisStatus) -> Component {
    let mute = (!redis.usable).then(|| "it cannot be asked".to_owned());
    Component {
        name: "redis",
        reason: redis.reason.clone().or(mute),
        figures: json!({
            "usable": redis.usable,
            "reason": redis.reason,
            "in_flight": redis.in_flight,
            "nodes": redis.nodes,
            "nodes_down": redis.nodes_down,
            "round_trip_p50_us": redis.round_trips.p50.map(micros),
            "round_trip_p99_us": redis.round_trips.p99.map(micros),
        }),
    }
}

fn bus(redis: &RedisStatus) -> Component {
    let deaf =
        "what other servers invalidate is not heard, so process memory is not trusted while Redis answers";
    Component {
        name: "bus",
        reason: (!redis.hears).then(|| deaf.to_owned()),
        figures: json!({
            "hears": redis.hears,
            "staleness_bound_ms": millis(redis.staleness_bound),
            "gaps": redis.gaps,
        }),
    }
}

/// Only where a space wants it.
fn tracking(tracks: bool) -> Component {
    let untold = "what other programs write is not told, so spaces with `coherence = \"tracking\"` hear it late or not";
    Component {
        name: "tracking",
        reason: (!tracks).then(|| untold.to_owned()),
        figures: json!({ "tracks": tracks }),
    }
}

fn deferred(redis: &RedisStatus) -> Component {
    let (count, oldest_ms) = (redis.deferred, millis(redis.deferred_for));
    let waiting = || format!("changes that Redis has not confirmed: {count}, the oldest for {oldest_ms} ms");
    Component {
        name: "deferred",
        reason: (count > 0).then(waiting),
        figures: json!({ "count": count, "oldest_ms": oldest_ms }),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn well() -> RedisStatus {
        let mut redis = RedisStatus::default();
        redis.usable = true;
        redis.in_flight = 3;
        redis.nodes = 1;
        redis.round_trips.p50 = Some(Duration::from_micros(80));
        redis.hears = true;
        redis.staleness_bound = Duration::from_millis(1_510);
        redis
    }

    fn report(redis: RedisStatus) -> Report {
        Report::of(&Status::Redis(redis), false)
    }

    fn in_short(redis: RedisStatus) -> Value {
        let report = report(redis).in_short();
        assert_eq!(report.code(), StatusCode::OK);
        json!(report)
    }

    #[test]
    fn a_server_on_memory_has_no_component_that_could_fail() {
        let report = Report::of(&Status::Memory, false);

        assert_eq!(json!(report), json!({ "status": "ready", "components": {}, "store": "memory" }));
        assert_eq!(json!(report.in_short()), json!({ "status": "ready" }));
    }

    #[test]
    fn a_server_that_stands_well_with_redis_is_ready() {
        let components = json!({
            "redis": {
                "status": "ready", "usable": true, "reason": null, "in_flight": 3, "nodes": 1, "nodes_down": 0,
                "round_trip_p50_us": 80, "round_trip_p99_us": null,
            },
            "bus": { "status": "ready", "hears": true, "staleness_bound_ms": 1_510, "gaps": 0 },
            "deferred": { "status": "ready", "count": 0, "oldest_ms": 0 },
        });

        let verbose = json!({ "status": "ready", "components": components, "store": "redis" });
        assert_eq!(json!(report(well())), verbose);
        assert_eq!(in_short(well()), json!({ "status": "ready" }));
    }

    #[test]
    fn redis_that_cannot_be_used_is_named_with_the_reason() {
        let mut redis = well();
        redis.usable = false;
        redis.reason = Some("the breaker is open".to_owned());

        let reasons = json!({ "redis": "the breaker is open" });
        assert_eq!(in_short(redis.clone()), json!({ "status": "degraded", "reasons": reasons }));
        let verbose = json!(report(redis));
        let component = &verbose["components"]["redis"];
        assert_eq!([&component["status"], &component["reason"]], ["degraded", "the breaker is open"]);
        assert_eq!(component["usable"], false);
        assert_eq!(verbose["components"]["bus"]["status"], "ready");
    }

    #[test]
    fn redis_that_cannot_be_used_for_no_known_reason_has_one_all_the_same() {
        let mut redis = well();
        redis.usable = false;

        assert_eq!(in_short(redis)["reasons"]["redis"], "it cannot be asked");
    }

    #[test]
    fn a_server_that_hears_nothing_is_degraded() {
        let mut redis = well();
        redis.hears = false;
        redis.gaps = 2;

        let verbose = json!(report(redis.clone()));
        let component =
            json!({ "status": "degraded", "hears": false, "staleness_bound_ms": 1_510, "gaps": 2 });
        assert_eq!(verbose["components"]["bus"], component);
        assert_eq!(in_short(redis)["reasons"].as_object().unwrap().keys().collect::<Vec<_>>(), ["bus"]);
    }

    #[test]
    fn a_server_that_is_not_told_of_writes_though_a_space_wants_that_is_degraded() {
        let mut redis = well();
        redis.tracks = Some(true);
        let verbose = json!(report(redis.clone()));
        assert_eq!(verbose["components"]["tracking"], json!({ "status": "ready", "tracks": true }));

        redis.tracks = Some(false);
        assert_eq!(in_short(redis)["reasons"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tracking"]);
    }

    #[test]
    fn changes_that_wait_are_counted() {
        let mut redis = well();
        redis.deferred = 7;
        redis.deferred_for = Duration::from_millis(2_500);

        let waiting = "changes that Redis has not confirmed: 7, the oldest for 2500 ms";
        assert_eq!(in_short(redis.clone())["reasons"], json!({ "deferred": waiting }));
        let component = json!({ "status": "degraded", "count": 7, "oldest_ms": 2_500 });
        assert_eq!(json!(report(redis))["components"]["deferred"], component);
    }

    #[test]
    fn a_server_that_shuts_down_is_down_however_redis_is() {
        for status in [Status::Memory, Status::Redis(well()), Status::Redis(RedisStatus::default())] {
            let report = Report::of(&status, true);

            assert_eq!((report.code(), report.status), (StatusCode::SERVICE_UNAVAILABLE, Health::Down));
        }
    }
}

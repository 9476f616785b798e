//! The Grafana board.

use forebay::metrics::table::{
    BUILD_INFO, BUS_GAPS, BUS_HEARS, BUS_LAG_SECONDS, BUS_MESSAGES, BUS_PROCESSES,
    BUS_STALENESS_BOUND_SECONDS, CACHE_BREAKER_OPENED, CACHE_CANCELLED_WAITS, CACHE_CHANGES,
    CACHE_DEFERRED_AGE_SECONDS, CACHE_DEFERRED_CHANGES, CACHE_FILLS, CACHE_FLIGHT_CALLERS,
    CACHE_LOAD_SECONDS, CACHE_LOADS, CACHE_MEMORY_BYTES, CACHE_MEMORY_ENTRIES, CACHE_MEMORY_LIMIT_BYTES,
    CACHE_REQUEST_SECONDS, CACHE_REQUESTS, CACHE_UNREADABLE, CLAIMS, FILTER_CHECKS, HTTP_REQUEST_SECONDS,
    HTTP_REQUESTS, IDEMPOTENCY_BEGINS, IDEMPOTENCY_COMPLETIONS, LIMITER_DECISIONS, LIMITER_UNREADABLE,
    LOCK_REQUESTS, LOCKS_HELD, LOCKS_LOST, LOCKS_WAITING, REDIS_BREAKERS_OPEN, REDIS_COMMAND_SECONDS,
    REDIS_ERRORS, REDIS_IN_FLIGHT, REDIS_USABLE, START_TIME_SECONDS, TOPIC_MESSAGES, VISITORS,
};
use serde_json::{Value, json};

use crate::query::{Query, of};

/// What Grafana puts in for the time that one point of a graph stands for, widened to what rates need.
const WINDOW: &str = "$__rate_interval";

/// The width of the board in Grafana's units, of which a panel has a third.
const WIDTH: usize = 24;
const PANEL: (usize, usize) = (8, 8);

/// One graph.
struct Panel {
    title: &'static str,
    unit: &'static str,
    stacked: bool,
    /// Queries with their legends.
    targets: Vec<(String, &'static str)>,
}

/// Counts in a second, by `label`, one on top of the other.
fn split(title: &'static str, query: &Query, label: &'static str, legend: &'static str) -> Panel {
    Panel { title, unit: "ops", stacked: true, targets: vec![(query.rate(WINDOW, &[label]), legend)] }
}

fn lines(title: &'static str, unit: &'static str, targets: Vec<(String, &'static str)>) -> Panel {
    Panel { title, unit, stacked: false, targets }
}

/// The middle and the slow end of what was measured.
fn quantiles(query: &Query) -> Vec<(String, &'static str)> {
    [(0.5, "p50"), (0.95, "p95"), (0.99, "p99")]
        .map(|(quantile, legend)| (query.quantile(quantile, WINDOW, &[]), legend))
        .into()
}

/// A metric of a cache, in the spaces that are chosen at the top of the board.
macro_rules! chosen {
    ($metric:expr) => {
        of(&$metric).like("space", "$space")
    };
}

fn rows() -> Vec<(&'static str, Vec<Panel>)> {
    vec![
        ("Cache", cache()),
        ("Loads", loads()),
        ("Limits, locks, once", primitives()),
        ("Redis and the bus", redis()),
        ("Server", server()),
    ]
}

fn cache() -> Vec<Panel> {
    let rate = |query: Query| query.rate(WINDOW, &[]);
    let (loads, reads) = (rate(chosen!(CACHE_LOADS)), rate(chosen!(CACHE_REQUESTS)));
    vec![
        split("Reads by what answered them", &chosen!(CACHE_REQUESTS), "outcome", "{{outcome}}"),
        lines(
            "Share of reads that did not load",
            "percentunit",
            vec![(format!("1 - {loads} / {reads}"), "not loaded")],
        ),
        lines("Reads beyond process memory", "s", quantiles(&chosen!(CACHE_REQUEST_SECONDS))),
        split("What took values out of use", &chosen!(CACHE_CHANGES), "source", "{{source}}"),
        split("What became of loaded values", &chosen!(CACHE_FILLS), "outcome", "{{outcome}}"),
        lines(
            "Process memory",
            "bytes",
            vec![
                (of(&CACHE_MEMORY_BYTES).sum(&[]), "used"),
                (of(&CACHE_MEMORY_LIMIT_BYTES).sum(&[]), "budget"),
            ],
        ),
        lines("Entries in process memory", "short", vec![(of(&CACHE_MEMORY_ENTRIES).sum(&[]), "entries")]),
        lines("Entries that could not be read", "ops", vec![(rate(chosen!(CACHE_UNREADABLE)), "unreadable")]),
        lines(
            "Changes that Redis has not confirmed",
            "short",
            vec![
                (of(&CACHE_DEFERRED_CHANGES).sum(&[]), "changes"),
                (of(&CACHE_DEFERRED_AGE_SECONDS).highest(&[]), "age of the oldest in seconds"),
            ],
        ),
    ]
}

fn loads() -> Vec<Panel> {
    let coalesced = chosen!(CACHE_REQUEST_SECONDS).only("outcome", &["coalesced"]);
    vec![
        split("Loads by how they ended", &chosen!(CACHE_LOADS), "outcome", "{{outcome}}"),
        lines("How long loads take", "s", quantiles(&chosen!(CACHE_LOAD_SECONDS))),
        lines("How long callers wait for the load of another", "s", quantiles(&coalesced)),
        lines(
            "Callers of one flight",
            "short",
            vec![
                (chosen!(CACHE_FLIGHT_CALLERS).mean(WINDOW), "mean"),
                (chosen!(CACHE_FLIGHT_CALLERS).quantile(0.99, WINDOW, &[]), "p99"),
            ],
        ),
        lines(
            "Flights, and callers that left",
            "ops",
            vec![
                (chosen!(CACHE_FLIGHT_CALLERS).rate(WINDOW, &[]), "flights"),
                (chosen!(CACHE_CANCELLED_WAITS).rate(WINDOW, &[]), "left before the end"),
            ],
        ),
        lines(
            "Origins left alone",
            "short",
            vec![(chosen!(CACHE_BREAKER_OPENED).increase(WINDOW, &["space"]), "{{space}}")],
        ),
    ]
}

fn primitives() -> Vec<Panel> {
    let refused = of(&LIMITER_DECISIONS).only("outcome", &["denied", "remembered", "never_fits"]);
    vec![
        split("Decisions of limiters", &of(&LIMITER_DECISIONS), "outcome", "{{outcome}}"),
        Panel {
            title: "Refusals by policy and tier",
            unit: "ops",
            stacked: true,
            targets: vec![(refused.rate(WINDOW, &["policy", "tier"]), "{{policy}} {{tier}}")],
        },
        lines(
            "Counts of limiters that could not be read",
            "ops",
            vec![(of(&LIMITER_UNREADABLE).rate(WINDOW, &["policy"]), "{{policy}}")],
        ),
        split("Locks that were asked for", &of(&LOCK_REQUESTS), "outcome", "{{outcome}}"),
        lines(
            "Locks",
            "short",
            vec![
                (of(&LOCKS_HELD).sum(&[]), "held"),
                (of(&LOCKS_WAITING).sum(&[]), "callers that wait"),
                (of(&LOCKS_LOST).increase(WINDOW, &[]), "lost"),
            ],
        ),
        split("Claims", &of(&CLAIMS), "outcome", "{{outcome}}"),
        split("What is to run once", &of(&IDEMPOTENCY_BEGINS), "outcome", "{{outcome}}"),
        split("What has run once", &of(&IDEMPOTENCY_COMPLETIONS), "outcome", "{{outcome}}"),
        split("Visitors sent to be counted", &of(&VISITORS), "outcome", "{{outcome}}"),
        split("Answers of filters", &of(&FILTER_CHECKS), "outcome", "{{outcome}}"),
        split("Messages of topics", &of(&TOPIC_MESSAGES), "outcome", "{{outcome}}"),
    ]
}

fn redis() -> Vec<Panel> {
    vec![
        lines("Requests to Redis", "s", quantiles(&of(&REDIS_COMMAND_SECONDS))),
        split("Requests to Redis by what they ask", &of(&REDIS_COMMAND_SECONDS), "command", "{{command}}"),
        split("Requests to Redis that failed", &of(&REDIS_ERRORS), "kind", "{{kind}}"),
        lines(
            "Redis",
            "short",
            vec![
                (of(&REDIS_USABLE).lowest(&[]), "usable by all processes"),
                (of(&REDIS_BREAKERS_OPEN).sum(&[]), "nodes left alone"),
                (of(&REDIS_IN_FLIGHT).sum(&[]), "requests under way"),
            ],
        ),
        lines(
            "The way of a word through the bus",
            "s",
            vec![
                (of(&BUS_LAG_SECONDS).highest(&[]), "slowest"),
                (of(&BUS_STALENESS_BOUND_SECONDS).highest(&[]), "bound of staleness"),
            ],
        ),
        lines(
            "The bus",
            "short",
            vec![
                (of(&BUS_HEARS).lowest(&[]), "heard by all processes"),
                (of(&BUS_PROCESSES).highest(&[]), "processes"),
                (of(&BUS_MESSAGES).rate(WINDOW, &[]), "messages in a second"),
                (of(&BUS_GAPS).increase(WINDOW, &[]), "gaps"),
            ],
        ),
    ]
}

fn server() -> Vec<Panel> {
    vec![
        split("Requests by route", &of(&HTTP_REQUESTS), "route", "{{route}}"),
        split("Requests by status", &of(&HTTP_REQUESTS), "status", "{{status}}"),
        lines("How long answers take", "s", quantiles(&of(&HTTP_REQUEST_SECONDS))),
        lines("Versions", "short", vec![(of(&BUILD_INFO).sum(&["version"]), "{{version}}")]),
        lines(
            "Since the latest start",
            "s",
            vec![(format!("time() - {}", of(&START_TIME_SECONDS).highest(&[])), "seconds")],
        ),
    ]
}

/// The file of the board.
#[must_use]
pub fn json() -> String {
    let mut panels = Vec::new();
    let mut top = 0;
    for (title, row) in rows() {
        let position = json!({ "h": 1, "w": WIDTH, "x": 0, "y": top });
        panels.push(json!({ "id": panels.len() + 1, "type": "row", "title": title, "gridPos": position }));
        top += 1;
        let across = WIDTH / PANEL.0;
        for (at, panel) in row.iter().enumerate() {
            let (x, y) = (at % across * PANEL.0, top + at / across * PANEL.1);
            panels.push(panel.json(panels.len() + 1, x, y));
        }
        top += row.len().div_ceil(across) * PANEL.1;
    }
    let text = serde_json::to_string_pretty(&board(&panels)).expect("its keys are texts");
    format!("{text}\n")
}

fn board(panels: &[Value]) -> Value {
    let source = json!({
        "name": "source", "label": "Data source", "type": "datasource", "query": "prometheus",
    });
    let space = json!({
        "name": "space", "label": "Space", "type": "query", "datasource": { "uid": "$source" },
        "query": format!("label_values({}, space)", CACHE_REQUESTS.name),
        "refresh": 2, "multi": true, "includeAll": true, "allValue": ".*",
        "current": { "text": "All", "value": "$__all" },
    });
    json!({
        "uid": "forebay", "title": "Forebay", "tags": ["forebay"], "schemaVersion": 39, "editable": true,
        "refresh": "10s", "time": { "from": "now-1h", "to": "now" },
        "description": "Written by `cargo xtask ops` from the table of metrics; changes belong there.",
        "templating": { "list": [source, space] },
        "panels": panels,
    })
}

impl Panel {
    fn json(&self, id: usize, x: usize, y: usize) -> Value {
        let source = json!({ "type": "prometheus", "uid": "$source" });
        let targets = self.targets.iter().zip('A'..).map(|((query, legend), name)| {
            json!({ "refId": name.to_string(), "expr": query, "legendFormat": legend, "datasource": source })
        });
        let mode = if self.stacked { "normal" } else { "none" };
        let fill = if self.stacked { 40 } else { 0 };
        json!({
            "id": id, "type": "timeseries", "title": self.title, "datasource": source,
            "gridPos": { "h": PANEL.1, "w": PANEL.0, "x": x, "y": y },
            "targets": targets.collect::<Vec<_>>(),
            "fieldConfig": {
                "defaults": {
                    "unit": self.unit, "min": 0,
                    "custom": { "stacking": { "mode": mode, "group": "A" }, "fillOpacity": fill },
                },
                "overrides": [],
            },
            "options": { "legend": { "displayMode": "list" }, "tooltip": { "mode": "multi" } },
        })
    }
}

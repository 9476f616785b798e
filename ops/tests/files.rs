//! The files are as they are written anew, and name nothing that the table has not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fs, path::Path};

use forebay::metrics::table::{Kind, Metric, TABLE};
use forebay_ops::{alerts, board};
use promql_parser::{
    label::Matchers,
    parser::{self, Expr, LabelModifier},
};
use serde_json::Value;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn they_are_as_the_table_has_them() {
    let remedy = "is not as it would be written: cargo xtask ops";
    assert!(file("grafana.json") == board::json(), "ops/grafana.json {remedy}");
    assert!(file("alerts.yaml") == alerts::yaml(), "ops/alerts.yaml {remedy}");
}

/// The queries of the board, as Grafana would send them.
fn queries() -> Vec<String> {
    let board: Value = serde_json::from_str(&board::json()).unwrap();
    let panels = board["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let asked = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    asked.map(|query| query.replace("$__rate_interval", "1m").replace("$space", ".*")).collect()
}

#[test]
fn every_query_names_what_the_table_has() {
    let alerts = alerts::alerts().into_iter().map(|alert| alert.condition);
    for query in queries().into_iter().chain(alerts) {
        let parsed = parser::parse(&query).unwrap_or_else(|error| panic!("{query}: {error}"));
        look(&parsed, &query);
    }
}

#[test]
fn every_metric_is_on_the_board() {
    let queries = queries().join("\n");
    let missing: Vec<_> =
        TABLE.iter().map(|metric| metric.name).filter(|name| !queries.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn panels_and_alerts_have_names_of_their_own() {
    let board: Value = serde_json::from_str(&board::json()).unwrap();
    let panels: Vec<_> =
        board["panels"].as_array().unwrap().iter().map(|panel| panel["title"].to_string()).collect();
    let alerts: Vec<_> = alerts::alerts().iter().map(|alert| alert.name.to_owned()).collect();
    for names in [panels, alerts] {
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    }
}

/// Looks through a query for metrics and labels, each of which must be there. Answers the labels that are left.
fn look(query: &Expr, text: &str) {
    match query {
        Expr::VectorSelector(selector) => {
            matches(metric(selector.name.as_deref().unwrap(), text), &selector.matchers, text);
        }
        Expr::MatrixSelector(selector) => {
            matches(metric(selector.vs.name.as_deref().unwrap(), text), &selector.vs.matchers, text);
        }
        Expr::Aggregate(aggregate) => {
            look(&aggregate.expr, text);
            let Some(LabelModifier::Include(labels)) = &aggregate.modifier else { return };
            let below = selectors(&aggregate.expr, text);
            for label in &labels.labels {
                let is_there = |metric: &&Metric| {
                    metric.labels.iter().any(|known| known.name == label)
                        || label == "instance"
                        || (label == "le" && matches!(metric.kind, Kind::Histogram(_)))
                };
                assert!(below.iter().all(is_there), "{label} in {text}");
            }
        }
        Expr::Binary(binary) => {
            look(&binary.lhs, text);
            look(&binary.rhs, text);
        }
        Expr::Paren(inner) => look(&inner.expr, text),
        Expr::Call(call) => call.args.args.iter().for_each(|inner| look(inner, text)),
        Expr::NumberLiteral(_) => {}
        other => panic!("{other:?} in {text}"),
    }
}

/// The metrics that a query is about.
fn selectors(query: &Expr, text: &str) -> Vec<&'static Metric> {
    match query {
        Expr::VectorSelector(selector) => vec![metric(selector.name.as_deref().unwrap(), text)],
        Expr::MatrixSelector(selector) => vec![metric(selector.vs.name.as_deref().unwrap(), text)],
        Expr::Call(call) => call.args.args.iter().flat_map(|inner| selectors(inner, text)).collect(),
        other => panic!("{other:?} in {text}"),
    }
}

fn metric(name: &str, text: &str) -> &'static Metric {
    let of = |name: &str| TABLE.iter().find(|metric| metric.name == name);
    let ends = ["_bucket", "_sum", "_count"].iter();
    let histogram = ends.filter_map(|end| of(name.strip_suffix(end)?)).next();
    let is_histogram = |metric: &&Metric| matches!(metric.kind, Kind::Histogram(_));
    let metric = of(name).filter(|metric| !is_histogram(metric)).or(histogram.filter(is_histogram));
    metric.unwrap_or_else(|| panic!("no metric {name} in {text}"))
}

fn matches(metric: &Metric, matchers: &Matchers, text: &str) {
    for matcher in &matchers.matchers {
        let label = metric.labels.iter().find(|label| label.name == matcher.name);
        let label = label.unwrap_or_else(|| panic!("no label {} in {text}", matcher.name));
        let fits = |value: &str| label.values.is_empty() || label.values.contains(&value);
        assert!(matcher.value.split('|').all(fits), "{} in {text}", matcher.value);
    }
}

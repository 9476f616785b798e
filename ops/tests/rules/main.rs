//! Each rule fires when it should and not before.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod promql;

use std::collections::BTreeSet;

use forebay_ops::{
    alerts::{self, Alert},
    query::INSTANCE,
};
use promql_parser::parser;

use crate::promql::{At, Course, Labels};

/// A series of one process as it is when nothing is wrong, and when something is: its first value, and by how much it
/// grows in a minute.
type Series = (&'static str, Course, Course);

/// An alert, what it is about, the label that it has when it fires, and how many minutes after something went wrong
/// that is.
type Case = (&'static str, &'static [Series], &'static str, u32);

const CASES: &[Case] = &[
    ("ForebayRedisUnusable", &[("forebay_redis_usable", (1.0, 0.0), (0.0, 0.0))], INSTANCE, 1),
    (
        "ForebayRedisErrors",
        &[
            ("forebay_redis_errors_total{kind=\"timeout\"}", (0.0, 0.0), (0.0, 60.0)),
            ("forebay_redis_command_duration_seconds_count{command=\"get\"}", (0.0, 600.0), (0.0, 600.0)),
        ],
        INSTANCE,
        6,
    ),
    (
        "ForebayRedisSlow",
        &[
            (
                "forebay_redis_command_duration_seconds_bucket{command=\"get\",le=\"0.001\"}",
                (0.0, 600.0),
                (0.0, 500.0),
            ),
            (
                "forebay_redis_command_duration_seconds_bucket{command=\"get\",le=\"0.05\"}",
                (0.0, 600.0),
                (0.0, 600.0),
            ),
            (
                "forebay_redis_command_duration_seconds_bucket{command=\"get\",le=\"+Inf\"}",
                (0.0, 600.0),
                (0.0, 600.0),
            ),
        ],
        INSTANCE,
        11,
    ),
    ("ForebayBusDeaf", &[("forebay_bus_hears", (1.0, 0.0), (0.0, 0.0))], INSTANCE, 1),
    ("ForebayBusLate", &[("forebay_bus_lag_seconds", (0.01, 0.0), (0.8, 0.0))], INSTANCE, 2),
    ("ForebayBusGaps", &[("forebay_bus_gaps_total", (1.0, 0.0), (0.0, 1.0))], INSTANCE, 6),
    (
        "ForebayLoadsFail",
        &[
            ("forebay_cache_loads_total{space=\"a\",outcome=\"value\"}", (0.0, 60.0), (0.0, 60.0)),
            ("forebay_cache_loads_total{space=\"a\",outcome=\"timed_out\"}", (0.0, 1.0), (0.0, 20.0)),
        ],
        "space",
        8,
    ),
    (
        "ForebayLoadsKeptOut",
        &[("forebay_cache_loads_total{space=\"a\",outcome=\"refused\"}", (0.0, 0.0), (0.0, 1.0))],
        "space",
        6,
    ),
    (
        "ForebayOriginLeftAlone",
        &[("forebay_cache_origin_breaker_opened_total{space=\"a\"}", (0.0, 0.0), (0.0, 1.0))],
        "space",
        4,
    ),
    (
        "ForebayHitsFew",
        &[
            ("forebay_cache_requests_total{space=\"a\",outcome=\"memory\"}", (0.0, 600.0), (0.0, 100.0)),
            ("forebay_cache_requests_total{space=\"a\",outcome=\"loaded\"}", (0.0, 60.0), (0.0, 900.0)),
            ("forebay_cache_loads_total{space=\"a\",outcome=\"value\"}", (0.0, 60.0), (0.0, 900.0)),
        ],
        "space",
        55,
    ),
    (
        "ForebayChangesDeferred",
        &[("forebay_cache_deferred_age_seconds", (5.0, 0.0), (90.0, 0.0))],
        INSTANCE,
        0,
    ),
    (
        "ForebayEntriesUnreadable",
        &[("forebay_cache_unreadable_total{space=\"a\"}", (7.0, 0.0), (0.0, 1.0))],
        "space",
        31,
    ),
    (
        "ForebayMemoryFull",
        &[
            ("forebay_cache_memory_bytes", (50.0, 0.0), (99.0, 0.0)),
            ("forebay_cache_memory_limit_bytes", (100.0, 0.0), (100.0, 0.0)),
        ],
        INSTANCE,
        30,
    ),
    (
        "ForebayLimiterUndecided",
        &[(
            "forebay_limiter_decisions_total{policy=\"p\",tier=\"t\",outcome=\"unavailable\"}",
            (0.0, 0.0),
            (0.0, 1.0),
        )],
        "policy",
        2,
    ),
    (
        "ForebayLimiterUnreadable",
        &[("forebay_limiter_unreadable_total{policy=\"p\"}", (0.0, 0.0), (0.0, 1.0))],
        "policy",
        1,
    ),
    ("ForebayLocksLost", &[("forebay_locks_lost_total", (3.0, 0.0), (0.0, 1.0))], INSTANCE, 1),
    (
        "ForebayCompletionsUnproven",
        &[("forebay_idempotency_completions_total{outcome=\"lost\"}", (0.0, 0.0), (0.0, 1.0))],
        INSTANCE,
        1,
    ),
    (
        "ForebayVisitorsDropped",
        &[("forebay_visitors_total{counter=\"site\",outcome=\"dropped\"}", (0.0, 0.0), (0.0, 1.0))],
        "counter",
        1,
    ),
    (
        "ForebayMessagesLost",
        &[("forebay_topic_messages_total{topic=\"t\",outcome=\"missed\"}", (0.0, 0.0), (0.0, 1.0))],
        "topic",
        1,
    ),
    (
        "ForebayHttpErrors",
        &[
            (
                "forebay_http_requests_total{route=\"r\",method=\"GET\",status=\"200\"}",
                (0.0, 600.0),
                (0.0, 600.0),
            ),
            (
                "forebay_http_requests_total{route=\"r\",method=\"GET\",status=\"503\"}",
                (0.0, 6.0),
                (0.0, 60.0),
            ),
        ],
        "route",
        10,
    ),
];

#[test]
fn every_alert_has_its_case() {
    let (alerts, cases) = (alerts::alerts(), CASES.iter().map(|case| case.0));
    assert!(cases.eq(alerts.iter().map(|alert| alert.name)));
}

/// More than half of the reads load, but both processes together make fewer than one in a second.
const HARDLY_READ: &[Series] = &[
    ("forebay_cache_requests_total{space=\"a\",outcome=\"loaded\"}", (0.0, 29.0), (0.0, 29.0)),
    ("forebay_cache_loads_total{space=\"a\",outcome=\"value\"}", (0.0, 29.0), (0.0, 29.0)),
];

/// When something is wrong: every rule has looked back as far as it does by then.
const TURN: u32 = 90;

/// The series of a case in two processes, the first of which has what is `wrong` from [`TURN`] on.
fn series(case: &[Series], wrong: bool) -> Vec<promql::Series> {
    let of = |process: &str, (text, fine, bad): &Series, wrong: bool| {
        let (name, labels) = text.split_once('{').unwrap_or((text, "}"));
        let labels =
            labels.trim_end_matches('}').split_terminator(',').filter_map(|label| label.split_once('='));
        let labels = labels.chain([(INSTANCE, process)]);
        let labels: Labels = labels.map(|(name, value)| (name.to_owned(), value.replace('"', ""))).collect();
        let after = if wrong { *bad } else { *fine };
        promql::Series { name: name.to_owned(), labels, before: *fine, turn: TURN.into(), after }
    };
    case.iter().flat_map(|one| [of("first", one, wrong), of("second", one, false)]).collect()
}

/// With which labels an alert fires after so many minutes.
fn fired(alert: &Alert, series: &[promql::Series], minutes: u32) -> BTreeSet<Labels> {
    let condition = parser::parse(&alert.condition).unwrap();
    let held: u32 = alert.holds_for.strip_suffix('m').unwrap().parse().unwrap();
    let at = |minutes: u32| At { series, minutes: minutes.into() }.query(&condition);
    let labels = |minutes| at(minutes).into_iter().map(|(labels, _)| labels).collect::<BTreeSet<_>>();
    (minutes - held..minutes).fold(labels(minutes), |firing, minutes| &firing & &labels(minutes))
}

#[test]
fn each_fires_when_something_is_wrong_and_only_then() {
    for (alert, (name, case, label, _)) in alerts::alerts().iter().zip(CASES) {
        assert_eq!(fired(alert, &series(case, false), 2 * TURN), BTreeSet::new(), "{name}");
        let fired = fired(alert, &series(case, true), 2 * TURN);
        let labels: Vec<_> =
            fired.iter().flatten().map(|(label, value)| (label.as_str(), value.as_str())).collect();
        let [(found, value)] = labels[..] else { panic!("{name}: {fired:?}") };
        assert_eq!(found, *label, "{name}");
        assert!(*label != INSTANCE || value == "first", "{name}: {value}");
    }
}

#[test]
fn each_fires_once_it_has_been_wrong_for_long_enough_and_not_before() {
    for (alert, (name, case, _, after)) in alerts::alerts().iter().zip(CASES) {
        let series = series(case, true);
        let first = (0..=TURN).find(|minutes| !fired(alert, &series, TURN + minutes).is_empty());
        assert_eq!(first, Some(*after), "{name}");
    }
}

#[test]
fn a_space_that_is_hardly_read_may_load_what_it_reads() {
    let alerts = alerts::alerts();
    let few = alerts.iter().find(|alert| alert.name == "ForebayHitsFew").unwrap();
    assert_eq!(fired(few, &series(HARDLY_READ, false), TURN), BTreeSet::new());
}

#[test]
fn texts_name_the_label_that_an_alert_has() {
    for (alert, (name, _, label, _)) in alerts::alerts().iter().zip(CASES) {
        assert!(alert.summary.contains(&format!("{{{{ $labels.{label} }}}}")), "{name}: {}", alert.summary);
        assert_eq!(
            (alert.summary.matches("{{").count(), alert.remedy.matches("{{").count()),
            (1, 0),
            "{name}"
        );
    }
}

//! The figures of `/metrics` as a message of OTLP.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use forebay::metrics::table::{Kind, Metric, START_TIME_SECONDS, TABLE, Unit};
use opentelemetry_proto::tonic::{
    collector::metrics::v1::ExportMetricsServiceRequest,
    common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value::Value},
    metrics::v1::{
        self as proto, AggregationTemporality, Gauge, Histogram, HistogramDataPoint, NumberDataPoint,
        ResourceMetrics, ScopeMetrics, Sum, metric::Data, number_data_point::Value as Number,
    },
    resource::v1,
};
use opentelemetry_sdk::Resource;

use crate::dashboard::scrape::{Scrape, Series};

const CUMULATIVE: i32 = AggregationTemporality::Cumulative as i32;

/// From when to when something was counted, in ns since 1970.
#[derive(Debug, Clone, Copy)]
struct Span {
    began: u64,
    now: u64,
}

/// All figures of `text`.
pub(super) fn request(text: &str, resource: &Resource) -> ExportMetricsServiceRequest {
    let scrape = Scrape::read(text);
    let began = scrape.sum(START_TIME_SECONDS.name, |_| true).unwrap_or_default();
    let span = Span { began: (began * 1e9) as u64, now: now() };
    let scope = InstrumentationScope {
        name: "forebay".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..InstrumentationScope::default()
    };
    let attributes = resource.iter().map(|(name, value)| attribute(name.as_str(), &value.as_str())).collect();
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(v1::Resource { attributes, ..v1::Resource::default() }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope),
                metrics: TABLE.iter().filter_map(|metric| written(metric, &scrape, span)).collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a collector wants the time of day, which decides nothing here"
)]
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// One metric with all its series; nothing where there is none.
fn written(metric: &Metric, scrape: &Scrape, span: Span) -> Option<proto::Metric> {
    let data = match metric.kind {
        Kind::Histogram(_) => histogram(metric, scrape, span)?,
        Kind::Counter => Data::Sum(Sum {
            data_points: numbers(metric, scrape, span)?,
            aggregation_temporality: CUMULATIVE,
            is_monotonic: true,
        }),
        _ => Data::Gauge(Gauge { data_points: numbers(metric, scrape, span)? }),
    };
    let unit = match metric.unit {
        Unit::Seconds => "s",
        Unit::Bytes => "By",
        _ => "1",
    };
    Some(proto::Metric {
        name: metric.name.into(),
        description: metric.help.into(),
        unit: unit.into(),
        data: Some(data),
        ..proto::Metric::default()
    })
}

fn numbers(metric: &Metric, scrape: &Scrape, span: Span) -> Option<Vec<NumberDataPoint>> {
    let point = |series: &Series| NumberDataPoint {
        attributes: attributes(metric, series),
        start_time_unix_nano: span.began,
        time_unix_nano: span.now,
        value: Some(Number::AsDouble(series.value)),
        ..NumberDataPoint::default()
    };
    let points: Vec<_> = scrape.series(metric.name).iter().map(point).collect();
    (!points.is_empty()).then_some(points)
}

fn histogram(metric: &Metric, scrape: &Scrape, span: Span) -> Option<Data> {
    let series = |end: &str| scrape.series(&format!("{}{end}", metric.name));
    let labels = |series: &Series| -> Vec<String> {
        metric.labels.iter().map(|label| series.label(label.name).to_owned()).collect()
    };
    let sums: BTreeMap<_, _> = series("_sum").iter().map(|series| (labels(series), series.value)).collect();
    let mut points = BTreeMap::<_, HistogramDataPoint>::new();
    // Bounds ascend, as they do in the text, and each bucket has in it what those before have.
    for bucket in series("_bucket") {
        let labels = labels(bucket);
        let point = points.entry(labels.clone()).or_insert_with(|| HistogramDataPoint {
            attributes: attributes(metric, bucket),
            start_time_unix_nano: span.began,
            time_unix_nano: span.now,
            sum: sums.get(&labels).copied(),
            ..HistogramDataPoint::default()
        });
        let before = std::mem::replace(&mut point.count, bucket.value as u64);
        point.bucket_counts.push(point.count.saturating_sub(before));
        point.explicit_bounds.extend(bucket.label("le").parse().ok().filter(|bound: &f64| bound.is_finite()));
    }
    let data_points: Vec<_> = points.into_values().collect();
    (!data_points.is_empty())
        .then_some(Data::Histogram(Histogram { data_points, aggregation_temporality: CUMULATIVE }))
}

fn attributes(metric: &Metric, series: &Series) -> Vec<KeyValue> {
    metric.labels.iter().map(|label| attribute(label.name, series.label(label.name))).collect()
}

fn attribute(name: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(Value::StringValue(value.into())) };
    KeyValue { key: name.into(), value: Some(value), ..KeyValue::default() }
}

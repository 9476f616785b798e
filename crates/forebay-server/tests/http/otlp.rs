//! Traces and metrics by OTLP, to a collector that is there, and to one that is not.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::{metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{KeyValue, any_value::Value},
    metrics::v1::{Metric, metric::Data, number_data_point::Value as Number},
    trace::v1::Span,
};
use prost::Message;
use tokio::time::sleep;

use crate::support::{Answered, Server};

const SETTINGS: &str = "[cache.spaces.prices]";

/// What a collector was sent, by its paths.
#[derive(Debug, Default)]
struct Got {
    metrics: Vec<ExportMetricsServiceRequest>,
    traces: Vec<ExportTraceServiceRequest>,
    /// The credentials that came along.
    tokens: Vec<String>,
}

/// A collector on a port of its own, for as long as the tests run.
fn collector() -> (String, Arc<Mutex<Got>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, got) = (listener.local_addr().unwrap(), Arc::<Mutex<Got>>::default());
    let kept = got.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let kept = kept.clone();
            thread::spawn(move || take(&stream, &kept));
        }
    });
    (format!("http://{address}"), got)
}

/// Reads one request after the other, each of which says how long it is.
fn take(stream: &TcpStream, got: &Mutex<Got>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let field = |name: &str| {
            let fields = head.iter().filter_map(|line| line.split_once(": "));
            fields
                .filter(|(field, _)| field.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
                .next()
        };
        let mut body = vec![0; field("content-length").unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        assert_eq!(field("content-type").as_deref(), Some("application/x-protobuf"));
        let mut got = got.lock().unwrap();
        got.tokens.extend(field("x-token"));
        match head[0].split(' ').nth(1).unwrap() {
            "/v1/metrics" => got.metrics.push(Message::decode(&*body).unwrap()),
            "/v1/traces" => got.traces.push(Message::decode(&*body).unwrap()),
            other => panic!("nothing belongs to {other}"),
        }
        drop(got);
        { stream }.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
    }
}

fn started(endpoint: &str) -> Server {
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-token=secret"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "100"),
        ("OTEL_BSP_SCHEDULE_DELAY", "100"),
    ];
    Server::given(&[], &variables, SETTINGS)
}

fn text<'a>(attributes: &'a [KeyValue], name: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        _ => "",
    }
}

fn metric(request: &ExportMetricsServiceRequest, name: &str) -> Option<Metric> {
    let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    scopes.flat_map(|scope| &scope.metrics).find(|metric| metric.name == name).cloned()
}

/// How many reads process memory has answered, as the collector was told last.
fn hits(got: &Got) -> Option<f64> {
    let Data::Sum(sum) = metric(got.metrics.last()?, "forebay_cache_requests_total")?.data? else {
        return None;
    };
    assert!(sum.is_monotonic);
    let of_memory = sum.data_points.into_iter().find(|point| {
        text(&point.attributes, "space") == "prices" && text(&point.attributes, "outcome") == "memory"
    });
    match of_memory?.value? {
        Number::AsDouble(value) => Some(value),
        Number::AsInt(_) => None,
    }
}

fn spans(got: &Got) -> Vec<Span> {
    let resources = got.traces.iter().flat_map(|request| &request.resource_spans);
    resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
}

#[tokio::test]
async fn a_collector_is_told_of_requests_and_has_the_figures_of_metrics() {
    let (endpoint, got) = collector();
    let server = started(&endpoint);
    Answered::to(server.put("/v1/cache/prices/secret-id?ttl_ms=60000", "a")).await;
    for _ in 0..4 {
        assert_eq!(Answered::to(server.get("/v1/cache/prices/secret-id")).await.status, 200);
    }
    let metrics = Answered::to(server.get("/metrics")).await.body;
    let line = r#"forebay_cache_requests_total{space="prices",outcome="memory"} "#;
    let shown: f64 = metrics.lines().find_map(|text| text.strip_prefix(line)).unwrap().parse().unwrap();

    let is_read = |span: &&Span| {
        text(&span.attributes, "route") == "/v1/cache/{space}/{id}"
            && text(&span.attributes, "method") == "GET"
    };
    let has_all = |got: &Got| hits(got) == Some(shown) && spans(got).iter().filter(is_read).count() == 4;
    for _ in 0..200 {
        if has_all(&got.lock().unwrap()) {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    let got = got.lock().unwrap();
    assert_eq!((hits(&got), shown), (Some(shown), 3.0));
    assert!(spans(&got).iter().all(|span| !format!("{span:?}").contains("secret-id")));
    assert!(got.tokens.iter().all(|token| token == "secret") && !got.tokens.is_empty());
    let resource = got.metrics[0].resource_metrics[0].resource.clone().unwrap();
    assert_eq!(text(&resource.attributes, "service.name"), "forebay");
    let durations = metric(got.metrics.last().unwrap(), "forebay_http_request_duration_seconds").unwrap();
    let Some(Data::Histogram(durations)) = durations.data else { panic!("{durations:?}") };
    for point in durations.data_points {
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
    }
}

#[tokio::test]
async fn a_collector_that_is_not_there_costs_requests_nothing() {
    let mut server = started("http://127.0.0.1:9");
    for _ in 0..200 {
        assert_eq!(Answered::to(server.get("/livez")).await.status, 200);
    }
    let is_told = |server: &Server| server.log().contains("the collector takes no metrics");
    for _ in 0..200 {
        if is_told(&server) {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    assert!(is_told(&server), "{}", server.log());
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.ended(), Some(0));
}

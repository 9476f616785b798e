//! The figures of this server: the library's and those of its requests, in one place, from which `/metrics` is written.

use std::{fmt, sync::Arc, time::Duration};

use axum::http::{Method, StatusCode};
use forebay::{
    Forebay,
    metrics::table::{HTTP_REQUEST_SECONDS, HTTP_REQUESTS, Kind, TABLE},
};
use metrics::{Key, Label, Level, Metadata, Recorder, SharedString};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tokio_util::sync::CancellationToken;

use crate::{config::Config, counters::SITE};

/// How often what was measured is put into its buckets, so that it takes no room by itself.
const UPKEEP: Duration = Duration::from_secs(1);

/// The route of whatever has none.
const UNKNOWN: &str = "unknown";

/// The methods that are told apart: anybody can make up others.
const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

const METADATA: Metadata<'static> = Metadata::new("forebay_server", Level::INFO, Some(module_path!()));

/// All figures. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    library: forebay::metrics::Metrics,
    recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
}

impl Metrics {
    /// Begins with what `config` declares: whatever else clients name is `other`.
    pub(crate) fn new(config: &Config) -> Self {
        let recorder = Arc::new(exporter().build_recorder());
        let counters = config.unique.counters().map(|(name, _)| name).filter(|name| *name != SITE);
        let library = forebay::metrics::Metrics::builder()
            .recorder(recorder.clone())
            .spaces(config.cache.spaces.keys().cloned())
            .topics(config.topics.names())
            .counters(counters.chain([SITE]))
            .build();
        Self { library, handle: recorder.handle(), recorder }
    }

    /// Who is to observe the library.
    pub(crate) fn library(&self) -> forebay::metrics::Metrics {
        self.library.clone()
    }

    /// All figures of this moment, as Prometheus reads them.
    pub(crate) fn render(&self, forebay: &Forebay) -> String {
        self.library.publish(forebay);
        self.handle.render()
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, route: Option<&str>, method: &Method, status: StatusCode, took: Duration) {
        let route: SharedString = route.unwrap_or(UNKNOWN).to_owned().into();
        let method = METHODS.iter().find(|known| *known == method).map_or("other", Method::as_str);
        let [by_route, by_method, by_status] = HTTP_REQUESTS.labels else { return };
        let labels = vec![
            Label::new(by_route.name, route.clone()),
            Label::new(by_method.name, method.to_owned()),
            Label::new(by_status.name, status.as_u16().to_string()),
        ];
        self.recorder.register_counter(&Key::from_parts(HTTP_REQUESTS.name, labels), &METADATA).increment(1);
        let labels = vec![Label::new(by_route.name, route)];
        self.recorder
            .register_histogram(&Key::from_parts(HTTP_REQUEST_SECONDS.name, labels), &METADATA)
            .record(took);
    }

    /// Keeps the figures small until `end`.
    pub(crate) async fn keep(self, end: CancellationToken) {
        while end.run_until_cancelled(tokio::time::sleep(UPKEEP)).await.is_some() {
            self.handle.run_upkeep();
        }
    }
}

/// Each histogram with the buckets that the table has for it.
fn exporter() -> PrometheusBuilder {
    TABLE.iter().fold(PrometheusBuilder::new(), |exporter, metric| match metric.kind {
        Kind::Histogram(bounds) => exporter
            .set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), bounds)
            .expect("no histogram of the table is without buckets"),
        _ => exporter,
    })
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

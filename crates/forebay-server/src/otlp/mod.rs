//! Traces and metrics by OTLP over HTTP, where the environment names a collector in the variables of OpenTelemetry.
//!
//! Metrics are those of `/metrics`, written once more in another form. What a collector does not take in time is lost,
//! and holds nobody up.

mod figures;

use std::{env, fmt, time::Duration};

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use prost::Message;
use reqwest::{Client, header::CONTENT_TYPE};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use crate::app::Shared;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// How often metrics are sent, unless the environment says it in ms. As the specification has it.
const USUAL_INTERVAL: Duration = Duration::from_secs(60);

/// How long one export may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the end may take.
const CLOSING: Duration = Duration::from_millis(500);

/// The way to a collector. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Otlp {
    endpoint: String,
    interval: Duration,
    resource: Resource,
    traces: SdkTracerProvider,
}

impl Otlp {
    /// The way to the collector that the environment names, if it does.
    pub(crate) fn from_env() -> Result<Option<Self>, String> {
        let Some(endpoint) = variable(ENDPOINT) else { return Ok(None) };
        if !endpoint.starts_with("http://") {
            return Err(format!(
                "{ENDPOINT} is `{endpoint}`; give the http:// address of a collector, such as http://127.0.0.1:4318"
            ));
        }
        let interval = variable(INTERVAL).map_or(Ok(USUAL_INTERVAL), |text| {
            let millis = text.parse().ok().filter(|millis| *millis > 0);
            millis
                .map(Duration::from_millis)
                .ok_or_else(|| format!("{INTERVAL} is `{text}`; give ms, such as 60000"))
        })?;
        let resource = Resource::builder();
        let resource = match variable(SERVICE) {
            Some(_) => resource,
            None => resource.with_service_name("forebay"),
        };
        let resource = resource.build();
        let exporter =
            SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).with_timeout(PATIENCE);
        let exporter =
            exporter.build().map_err(|error| format!("traces cannot be sent to {endpoint}: {error}"))?;
        let traces = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.clone())
            .build();
        let endpoint = format!("{}/v1/metrics", endpoint.trim_end_matches('/'));
        Ok(Some(Self { endpoint, interval, resource, traces }))
    }

    /// Takes every span of the log.
    pub(crate) fn layer<S>(&self) -> OpenTelemetryLayer<S, SdkTracer>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.traces.tracer("forebay")).with_location(false)
    }

    /// Sends metrics until the server ends.
    pub(crate) async fn tell(self, app: Shared) {
        let (client, mut well) = (Client::new(), true);
        loop {
            let goes_on = app.draining.run_until_cancelled(tokio::time::sleep(self.interval)).await.is_some();
            let sent = self.send(&client, &app).await;
            match &sent {
                Err(error) if well => tracing::warn!(%error, "the collector takes no metrics"),
                Ok(()) if !well => tracing::info!("the collector takes metrics again"),
                _ => {}
            }
            well = sent.is_ok();
            if !goes_on {
                return;
            }
        }
    }

    async fn send(&self, client: &Client, app: &Shared) -> reqwest::Result<()> {
        let body = figures::request(&app.metrics(), &self.resource).encode_to_vec();
        let request =
            client.post(&self.endpoint).timeout(PATIENCE).header(CONTENT_TYPE, "application/x-protobuf");
        let request = headers().fold(request, |request, (name, value)| request.header(name, value));
        request.body(body).send().await?.error_for_status().map(drop)
    }

    /// Sends the traces that are left.
    pub(crate) fn end(&self) {
        if let Err(error) = self.traces.shutdown_with_timeout(CLOSING) {
            tracing::warn!(%error, "the last traces are lost");
        }
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// What is sent along, such as the right to do so, as `name=value` with commas between.
fn headers() -> impl Iterator<Item = (String, String)> {
    let all = variable(HEADERS).unwrap_or_default();
    let pairs: Vec<_> = all
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    pairs.into_iter()
}

impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Otlp").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

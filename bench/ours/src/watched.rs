//! Forebay with all that it can tell of itself, as the server has it.

use std::{fmt, time::Duration};

use contest::Hit;
use forebay::{Builder, Forebay, metrics::Metrics};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::Ours;

/// How often all figures are written, as the server does it for its page.
const PAUSE: Duration = Duration::from_secs(1);

/// A cache that is watched.
#[derive(Debug)]
pub struct Watched(Ours);

/// Who watches.
pub(crate) struct Watch {
    metrics: Metrics,
    exporter: PrometheusHandle,
}

impl Watched {
    /// As [`Ours::filled`].
    ///
    /// # Panics
    ///
    /// As [`Ours::filled`].
    pub fn filled(keys: &[String]) -> Self {
        Self(Ours::watched(keys))
    }
}

impl Hit for Watched {
    fn name(&self) -> &'static str {
        "Forebay with metrics and hot keys"
    }

    fn read_all(&self, keys: &[String], order: &[u32]) {
        self.0.read_all(keys, order);
    }
}

impl Watch {
    pub(crate) fn new() -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        let exporter = recorder.handle();
        Self { metrics: Metrics::builder().recorder(recorder).build(), exporter }
    }

    pub(crate) fn over(&self, builder: Builder) -> Builder {
        builder.observe(self.metrics.clone()).heavy_hitters()
    }

    /// Writes all figures again and again.
    pub(crate) async fn go_on(self, forebay: Forebay) {
        loop {
            self.metrics.publish(&forebay);
            std::hint::black_box(self.exporter.render());
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

//! All that happens, in figures for any exporter of the facade [`metrics`](https://docs.rs/metrics).
//!
//! | to see | read |
//! |---|---|
//! | which metrics there are | [`table`](mod@table) |
//! | what events become | `recorder`, with the handles in `series`, by `names` |
//! | what is read when it is asked for | `levels` |

mod builder;
mod levels;
mod names;
mod recorder;
mod series;
pub mod table;

use std::{fmt, sync::Arc};

pub use self::builder::Builder;
use self::{levels::Levels, recorder::Recorder};
use crate::{
    forebay::Forebay,
    observe::{Event, Observe},
};

/// Turns what one [`Forebay`] does into metrics. Cheap to clone.
///
/// No label has an id, a subject or any other text of a request: only names that the application has given to spaces,
/// policies, tiers, counters, filters and topics, at most 1,024 of each kind. Further ones are `other`.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::{Forebay, metrics::Metrics};
/// use metrics_exporter_prometheus::PrometheusBuilder;
///
/// let exporter = PrometheusBuilder::new().install_recorder()?; // or any other exporter, before `Metrics::new()`
///
/// let metrics = Metrics::new();
/// let forebay = Forebay::builder("shop").observe(metrics.clone()).memory().build().await?;
///
/// let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(60)).build()?;
/// prices.put("p-001", 12).await?;
/// prices.get("p-001").await;
///
/// metrics.publish(&forebay); // before each scrape, or every few seconds
/// let text = exporter.render();
/// assert!(text.contains(r#"forebay_cache_changes_total{space="catalog:price",source="put"} 1"#));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    recorder: Recorder,
    levels: Levels,
}

impl Metrics {
    /// Metrics for the recorder that is installed for this process. One that is installed later gets none.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Begins metrics that are told where to go, or which names to show.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Tells what is counted or kept elsewhere: hits in process memory, what that holds, how it stands with Redis.
    ///
    /// It costs some microseconds, and asks nobody. Give it one `Forebay`, the one that these metrics observe.
    pub fn publish(&self, forebay: &Forebay) {
        self.0.levels.publish(&forebay.figures(), &self.0.recorder);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Observe for Metrics {
    fn record(&self, event: Event<'_>) {
        self.0.recorder.record(event);
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

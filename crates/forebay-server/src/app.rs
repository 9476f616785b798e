//! What every request can reach.

use std::{sync::Arc, time::Duration};

use forebay::{
    Forebay,
    http::{Addresses, HeaderStyle},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Config, ConfigError, Store},
    counters::Counters,
    dashboard::Dashboard,
    limits::Limits,
    metrics::Metrics,
    middleware::Tokens,
    spaces::Spaces,
    topics::Topics,
};

/// The running application. Handlers share it as `State<Shared>`.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) forebay: Forebay,
    pub(crate) spaces: Spaces,
    pub(crate) limits: Limits,
    pub(crate) counters: Counters,
    pub(crate) topics: Topics,
    pub(crate) metrics: Metrics,
    pub(crate) tokens: Tokens,
    pub(crate) dashboard: Dashboard,
    pub(crate) addresses: Addresses,
    pub(crate) limit_headers: HeaderStyle,
    pub(crate) request_deadline: Duration,
    /// The longest wait for a lock.
    pub(crate) lock_wait: Duration,
    /// Cancelled when the server begins to shut down.
    pub(crate) draining: CancellationToken,
}

pub(crate) type Shared = Arc<App>;

impl App {
    /// Opens the store and makes the declared spaces and policies.
    pub(crate) async fn start(config: &Config) -> Result<Shared, ConfigError> {
        let metrics = Metrics::new(config);
        let mut builder = Forebay::builder(&config.app).observe(metrics.library()).heavy_hitters();
        if let Store::Redis { url, .. } = &config.store {
            builder = builder.redis(url.expose());
        }
        if let Some(budget) = config.redis.budget() {
            builder = builder.redis_budget(budget);
        }
        if let Some(bytes) = config.cache.local_bytes {
            builder = builder.local_bytes(bytes);
        }
        if let Some(loads) = config.cache.outage_concurrency {
            builder = builder.outage_concurrency(loads);
        }
        let forebay = builder.build().await.map_err(|error| config.store.refuse(&error))?;
        let spaces = Spaces::declare(forebay.clone(), config)?;
        let limits = Limits::declare(&forebay, config)?;
        let counters = Counters::declare(forebay.clone(), config)?;
        let topics = Topics::declare(forebay.clone(), config)?;
        let draining = CancellationToken::new();
        tokio::spawn(metrics.clone().keep(draining.clone()));
        Ok(Arc::new(Self {
            forebay,
            spaces,
            limits,
            counters,
            topics,
            metrics,
            tokens: Tokens::new(&config.auth),
            dashboard: Dashboard::default(),
            addresses: config.server.addresses().clone(),
            limit_headers: config.server.limit_headers(),
            request_deadline: config.request_deadline(),
            lock_wait: config.lock_wait(),
            draining,
        }))
    }

    /// The figures of this moment in Prometheus' text format.
    pub(crate) fn metrics(&self) -> String {
        self.metrics.render(&self.forebay)
    }
}

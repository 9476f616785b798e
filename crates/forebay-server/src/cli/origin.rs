//! An origin that is slow, and counts its calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use reqwest::header::HeaderValue;
use tokio::time::sleep;

use super::leases::Found;

/// What stands for a database or a model. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    takes: Duration,
    calls: Arc<AtomicU64>,
}

impl Origin {
    /// One whose calls take so long each.
    pub(super) fn new(takes: Duration) -> Self {
        Self { takes, calls: Arc::default() }
    }

    /// How long a call takes.
    pub(super) fn takes(&self) -> Duration {
        self.takes
    }

    /// Brings the value of `id`.
    pub(super) async fn load(&self, id: &str) -> Found {
        self.calls.fetch_add(1, Relaxed);
        sleep(self.takes).await;
        let bytes = format!("{{\"id\":\"{id}\"}}").into_bytes();
        Found { content_type: HeaderValue::from_static("application/json"), bytes }
    }

    /// How often it was called.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}

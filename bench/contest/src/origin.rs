//! The origin that every contestant loads from: slow, and it counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{Payload, payload};

/// A slow origin that counts how often it is asked. Its clones count together.
#[derive(Debug, Clone)]
pub struct Origin {
    takes: Duration,
    loads: Arc<AtomicU64>,
}

impl Origin {
    /// An origin that takes so long for each answer.
    pub fn slow(takes: Duration) -> Self {
        Self { takes, loads: Arc::default() }
    }

    /// Answers after its time.
    pub async fn load(self) -> Payload {
        self.loads.fetch_add(1, Relaxed);
        // A sleep of no time takes a timer's tick.
        if !self.takes.is_zero() {
            tokio::time::sleep(self.takes).await;
        }
        payload(0)
    }

    /// How often it was asked.
    pub fn loads(&self) -> u64 {
        self.loads.load(Relaxed)
    }
}

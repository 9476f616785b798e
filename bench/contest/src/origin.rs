//! The origin that every contestant loads from: slow, and it counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

use crate::{Article, PAYLOAD, Payload, payload};

/// A slow origin that counts how often it is asked. Its clones count together.
#[derive(Debug, Clone)]
pub struct Origin(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pace: Pace,
    bytes: usize,
    version: AtomicU64,
    loads: AtomicU64,
}

/// When a load ends.
#[derive(Debug)]
enum Pace {
    After(Duration),
    Held { begun: Semaphore, released: Semaphore },
}

impl Origin {
    /// An origin that takes so long for each answer.
    pub fn slow(takes: Duration) -> Self {
        Self::new(Pace::After(takes), PAYLOAD)
    }

    /// An origin of articles of so many bytes, which takes no time.
    pub fn quick(bytes: usize) -> Self {
        Self::new(Pace::After(Duration::ZERO), bytes)
    }

    /// An origin whose loads end when they are released.
    pub fn held() -> Self {
        Self::new(Pace::Held { begun: Semaphore::new(0), released: Semaphore::new(0) }, PAYLOAD)
    }

    fn new(pace: Pace, bytes: usize) -> Self {
        Self(Arc::new(Inner { pace, bytes, version: AtomicU64::new(1), loads: AtomicU64::new(0) }))
    }

    /// Answers after its time.
    pub async fn load(self) -> Payload {
        self.pass().await;
        payload(0)
    }

    /// Answers after its time with what there was when it was asked.
    pub async fn article(self) -> Article {
        let version = self.version();
        self.pass().await;
        Article::of(version, self.0.bytes)
    }

    async fn pass(&self) {
        self.0.loads.fetch_add(1, Relaxed);
        match &self.0.pace {
            // A sleep of no time takes a timer's tick.
            Pace::After(takes) if takes.is_zero() => {}
            Pace::After(takes) => tokio::time::sleep(*takes).await,
            Pace::Held { begun, released } => {
                begun.add_permits(1);
                let _released = released.acquire().await;
            }
        }
    }

    /// Changes what there is.
    pub fn raise(&self) {
        self.0.version.fetch_add(1, Relaxed);
    }

    /// What there is.
    pub fn version(&self) -> u64 {
        self.0.version.load(Relaxed)
    }

    /// Waits until a load has begun that is held.
    pub async fn begun(&self) {
        if let Pace::Held { begun, .. } = &self.0.pace {
            let _begun = begun.acquire().await;
        }
    }

    /// Ends all loads that are held, and lets later ones end at once.
    pub fn release(&self) {
        if let Pace::Held { released, .. } = &self.0.pace {
            released.close();
        }
    }

    /// How often it was asked.
    pub fn loads(&self) -> u64 {
        self.0.loads.load(Relaxed)
    }
}

//! What is out of order at the moment, and so excuses what clients are told.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use tokio::time::sleep;

/// For how long the end of something that was out of order is noticed here and there.
const AFTERMATH: Duration = Duration::from_secs(10);

pub(crate) struct Weather {
    pub(crate) no_model: Condition,
    pub(crate) no_redis: Condition,
    /// An instance was killed.
    pub(crate) loss: Condition,
}

impl Weather {
    pub(crate) fn fair() -> Self {
        let [no_model, no_redis, loss] = ["without a model", "without Redis", "lost"].map(Condition::new);
        Self { no_model, no_redis, loss }
    }
}

pub(crate) struct Condition {
    /// How what it excuses is counted.
    pub(crate) name: &'static str,
    holds: AtomicBool,
}

impl Condition {
    fn new(name: &'static str) -> Self {
        Self { name, holds: AtomicBool::new(false) }
    }

    pub(crate) fn holds(&self) -> bool {
        self.holds.load(SeqCst)
    }

    /// Holds from before `trouble` until some time after it.
    pub(crate) async fn during(&self, trouble: impl Future<Output = ()>) {
        self.holds.store(true, SeqCst);
        trouble.await;
        sleep(AFTERMATH).await;
        self.holds.store(false, SeqCst);
    }
}

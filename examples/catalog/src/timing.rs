//! The `Server-Timing` header: where an answer came from, and how long it and the query for it took.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use forebay::cache::{Entry, Source};

#[derive(Clone)]
pub(crate) struct Timing {
    began: Instant,
    query: Arc<OnceLock<Duration>>,
}

impl Timing {
    pub(crate) fn start() -> Self {
        Self { began: now(), query: Arc::default() }
    }

    pub(crate) async fn query<T>(&self, query: impl Future<Output = T>) -> T {
        let began = now();
        let answer = query.await;
        self.query.get_or_init(|| began.elapsed());
        answer
    }

    /// Names where the answer came from, in milliseconds.
    pub(crate) fn header<V>(&self, entry: &Entry<V>) -> [(&'static str, String); 1] {
        let query = || format!("db;dur={}", millis(self.query.get().copied().unwrap_or_default()));
        let source = match entry.source {
            _ if entry.is_stale() => "stale".into(),
            Source::Memory => "memory".into(),
            Source::Store => "store".into(),
            Source::Coalesced => "coalesced".into(),
            _ => query(),
        };
        [("server-timing", format!("{source}, total;dur={}", millis(self.began.elapsed())))]
    }
}

fn millis(span: Duration) -> String {
    format!("{:.3}", span.as_secs_f64() * 1000.0)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a client reads in a header is measured by the machine's clock"
)]
fn now() -> Instant {
    Instant::now()
}

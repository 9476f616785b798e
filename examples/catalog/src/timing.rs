//! The `Server-Timing` header: where an answer came from, and how long it and the query for it took.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use forebay::observe::{Event, Observe, ReadOutcome};

tokio::task_local! {
    /// How the read that runs on this task ended.
    static READ: Arc<OnceLock<ReadOutcome>>;
}

/// Tells each read how it ended. Forebay says so on the task of the reader, except for a hit in process memory.
pub(crate) struct Outcomes;

impl Observe for Outcomes {
    fn record(&self, event: Event<'_>) {
        if let Event::Read { outcome, .. } = event {
            // Without a reader to be told, nobody asks.
            READ.try_with(|read| *read.get_or_init(|| outcome)).ok();
        }
    }
}

#[derive(Clone)]
pub(crate) struct Timing {
    began: Instant,
    read: Arc<OnceLock<ReadOutcome>>,
    query: Arc<OnceLock<Duration>>,
}

impl Timing {
    pub(crate) fn start() -> Self {
        Self { began: now(), read: Arc::default(), query: Arc::default() }
    }

    pub(crate) async fn read<T>(&self, read: impl Future<Output = T>) -> T {
        READ.scope(self.read.clone(), read).await
    }

    pub(crate) async fn query<T>(&self, query: impl Future<Output = T>) -> T {
        let began = now();
        let answer = query.await;
        self.query.get_or_init(|| began.elapsed());
        answer
    }

    /// Names where the answer came from, in milliseconds.
    pub(crate) fn header(&self) -> [(&'static str, String); 1] {
        let source = match (self.read.get(), self.query.get()) {
            (None, _) => "memory".into(),
            (Some(ReadOutcome::Store), _) => "store".into(),
            (Some(ReadOutcome::Stale), _) => "stale".into(),
            (Some(_), Some(query)) => format!("db;dur={}", millis(*query)),
            (Some(_), None) => "coalesced".into(),
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

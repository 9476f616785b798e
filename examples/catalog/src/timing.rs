//! The `Server-Timing` header: how long a request took, and the query that it ran, if it had to.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

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

    /// Names `db` where this request ran the query, else `cache`; in milliseconds.
    pub(crate) fn header(&self) -> [(&'static str, String); 1] {
        let source = match self.query.get() {
            Some(query) => format!("db;dur={}", millis(*query)),
            None => "cache".into(),
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

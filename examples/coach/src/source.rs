//! Where an answer came from: Forebay tells each reader on the task that reads.

use std::sync::{Arc, OnceLock};

use forebay::observe::{Event, Observe, ReadOutcome};
use serde::Serialize;

tokio::task_local! {
    static READ: Arc<OnceLock<ReadOutcome>>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// The memory of this process.
    Memory,
    /// Redis, where another process has put it.
    Store,
    /// The model, which this request has asked.
    Model,
    /// The model, which another request had asked already.
    Shared,
    /// The cache, although its time is over, as the model failed or took too long.
    Stale,
}

impl Source {
    /// What `Cache-Status` (RFC 9211) says of it.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Memory => "coach; hit; detail=memory",
            Self::Store => "coach; hit; detail=store",
            Self::Model => "coach; fwd=miss",
            Self::Shared => "coach; fwd=miss; collapsed",
            Self::Stale => "coach; hit; ttl=0; detail=stale",
        }
    }

    /// A hit in process memory is the one end of a read that nobody is told of.
    fn of(outcome: Option<&ReadOutcome>) -> Self {
        match outcome {
            None => Self::Memory,
            Some(ReadOutcome::Store) => Self::Store,
            Some(ReadOutcome::Stale) => Self::Stale,
            Some(ReadOutcome::Coalesced) => Self::Shared,
            Some(_) => Self::Model,
        }
    }
}

/// Passes on to each reader how its read ended.
pub(crate) struct Sources;

impl Observe for Sources {
    fn record(&self, event: Event<'_>) {
        if let Event::Read { outcome, .. } = event {
            // Most reads are nobody's whose source is asked for.
            READ.try_with(|read| *read.get_or_init(|| outcome)).ok();
        }
    }
}

/// The outcome of a read, and where it came from.
pub(crate) async fn told<T>(read: impl Future<Output = T>) -> (T, Source) {
    let outcome = Arc::new(OnceLock::new());
    let answer = READ.scope(outcome.clone(), read).await;
    (answer, Source::of(outcome.get()))
}

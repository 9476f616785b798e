//! Counts what is written to the log on one thread: a test on a runtime of one thread sees its own lines only.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

/// The log lines of one test, from `info` up.
pub(crate) struct Journal {
    lines: Arc<AtomicUsize>,
    _guard: DefaultGuard,
}

impl Journal {
    pub(crate) fn open() -> Self {
        let lines = Arc::<AtomicUsize>::default();
        let guard = tracing::subscriber::set_default(Counter(lines.clone()));
        Self { lines, _guard: guard }
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines.load(SeqCst)
    }
}

struct Counter(Arc<AtomicUsize>);

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::INFO && metadata.target().starts_with("forebay")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

//! Building metrics: where they go, and which names they show.

use std::{fmt, sync::Arc};

use super::{
    Inner, Metrics,
    levels::Levels,
    recorder::{Recorder, Shown},
    series::Sink,
};

/// Builds [`Metrics`].
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    sink: Sink,
    shown: Shown,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { sink: Sink::Process, shown: Shown::default() }
    }

    /// Sets where metrics go. Default: to the recorder that is installed for this process.
    pub fn recorder(mut self, recorder: impl metrics::Recorder + Send + Sync + 'static) -> Self {
        self.sink = Sink::To(Box::new(recorder));
        self
    }

    /// Shows only these spaces; all others together are `other`. For programs whose callers can make spaces. Default:
    /// all.
    pub fn spaces(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.shown.spaces = Some(collect(names));
        self
    }

    /// As [`Builder::spaces`], for topics.
    pub fn topics(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.shown.topics = Some(collect(names));
        self
    }

    /// As [`Builder::spaces`], for counters of visitors.
    pub fn counters(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.shown.counters = Some(collect(names));
        self
    }

    /// Builds the metrics.
    #[must_use]
    pub fn build(self) -> Metrics {
        let levels = Levels::new(&self.sink);
        Metrics(Arc::new(Inner { recorder: Recorder::new(self.sink, &self.shown), levels }))
    }
}

fn collect(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("shown", &self.shown).finish_non_exhaustive()
    }
}

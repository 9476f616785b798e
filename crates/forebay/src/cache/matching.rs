//! Invalidating all ids that a pattern takes: each that is found is invalidated as if it had been named.

use std::sync::Arc;

use futures::{
    future::BoxFuture,
    stream::{self, StreamExt},
};

use super::{
    backend::{Change, Finder},
    inner::Inner,
    pattern::Pattern,
    write::Invalidated,
};
use crate::{
    bus::Kind,
    error::Error,
    observe::ChangeSource,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

/// How many ids are invalidated at a time.
const AT_A_TIME: usize = 64;

/// How an invalidation by pattern has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Matched {
    /// It is over.
    Done {
        /// How many ids were found in the store, and invalidated everywhere.
        invalidated: usize,
        /// How many were found, and invalidated in this process: the store has not confirmed it.
        deferred: usize,
        /// Whether all of the store was looked at. If not, a part of it could not be asked, or this process shuts down:
        /// there may be more.
        complete: bool,
    },
    /// Another one of this space is under way in this process, and nothing was done.
    Busy,
}

/// One invalidation by pattern, on its way.
struct Sweep<V: Send + Sync + 'static> {
    turn: Arc<Turn<V>>,
    pattern: Pattern,
    invalidated: AtomicUsize,
    deferred: AtomicUsize,
}

impl<V: Send + Sync + 'static> Inner<V> {
    pub(crate) async fn invalidate_matching(self: &Arc<Self>, pattern: &str) -> Result<Matched, Error> {
        let pattern = Pattern::new(pattern)?;
        let Some(turn) = Turn::take(self) else { return Ok(Matched::Busy) };
        let turn = Arc::new(turn);
        Ok(self.in_own_task(move || Sweep::new(turn.clone(), pattern.clone()).run()).await)
    }

    /// Overtakes what this process loads or has of the ids that `pattern` takes: the store may have none of it.
    fn overtake_matching(&self, pattern: &Pattern) {
        let mut ids = self.flights.ids(|id| pattern.takes(id));
        ids.extend(self.shared.memory.ids(self.space, |id| pattern.takes(id)));
        ids.iter().for_each(|id| self.overtake(id, Kind::Gone));
    }
}

impl<V: Send + Sync + 'static> Sweep<V> {
    fn new(turn: Arc<Turn<V>>, pattern: Pattern) -> Self {
        Self { turn, pattern, invalidated: AtomicUsize::new(0), deferred: AtomicUsize::new(0) }
    }

    async fn run(self) -> Matched {
        let inner = &self.turn.0;
        inner.overtake_matching(&self.pattern);
        let complete = inner.backend.find(&self).await;
        let (invalidated, deferred) = (self.invalidated.load(SeqCst), self.deferred.load(SeqCst));
        let space = inner.name.as_str();
        tracing::info!(space, invalidated, deferred, complete, "an invalidation by pattern has ended");
        Matched::Done { invalidated, deferred, complete }
    }

    async fn invalidate(&self, id: Box<str>) {
        let count = match self.turn.0.change_once(id.into(), Change::Invalidate, ChangeSource::Matching).await
        {
            Invalidated::Everywhere => &self.invalidated,
            Invalidated::Deferred => &self.deferred,
        };
        count.fetch_add(1, SeqCst);
    }
}

impl<V: Send + Sync + 'static> Finder for Sweep<V> {
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn found(&self, ids: Vec<Box<str>>) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            stream::iter(ids).for_each_concurrent(AT_A_TIME, |id| self.invalidate(id)).await;
            !self.turn.0.shared.context.tasks.is_stopping()
        })
    }
}

/// The one place for an invalidation by pattern, until it is dropped.
struct Turn<V: Send + Sync + 'static>(Arc<Inner<V>>);

impl<V: Send + Sync + 'static> Turn<V> {
    fn take(inner: &Arc<Inner<V>>) -> Option<Self> {
        (!inner.sweeping.swap(true, SeqCst)).then(|| Self(inner.clone()))
    }
}

impl<V: Send + Sync + 'static> Drop for Turn<V> {
    fn drop(&mut self) {
        self.0.sweeping.store(false, SeqCst);
    }
}

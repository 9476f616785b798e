//! Loaders whose types are forgotten, so that a flight can run anybody's.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use futures::future::BoxFuture;

use super::{
    bulkhead::SharedPermit,
    entry::{Load, Loaded},
};
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A loader whose types are forgotten: `None` means that there is no such value.
pub(crate) type Loader<V> = Box<dyn Loads<V>>;

/// A loader at work.
pub(crate) type Loading<V> = BoxFuture<'static, Result<Option<Loaded<V>>, Arc<dyn Any + Send + Sync>>>;

/// What loads one value, once.
pub(crate) trait Loads<V>: Send {
    fn load(self: Box<Self>, load: Load<V>) -> Loading<V>;

    /// Hears that somebody else loads, so that it may take long until this is called, if it ever is.
    fn stand_aside(&mut self) {}

    /// The permit that it shares with those it loads together with.
    fn shares(&self) -> Option<Arc<SharedPermit>> {
        None
    }

    /// By whom it is known whether others have failed by the same call.
    fn blame(&self) -> Blame {
        Blame::default()
    }
}

/// Whether the failure of a load is one of its own, or that of a call which others share and have told of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blame(Option<Arc<OnceLock<Arc<AtomicBool>>>>);

impl Blame {
    /// Of a load whose call is not known yet.
    pub(crate) fn to_share() -> Self {
        Self(Some(Arc::default()))
    }

    /// The load is part of the call that has `told` of its failure or not.
    pub(crate) fn share(&self, told: Arc<AtomicBool>) {
        if let Some(call) = &self.0 {
            // A load is part of one call.
            call.set(told).ok();
        }
    }

    /// Tells of a failure; whether it is the first that is told of its call.
    pub(crate) fn is_first(&self) -> bool {
        let told = self.0.as_ref().and_then(|call| call.get());
        told.is_none_or(|told| !told.swap(true, Relaxed))
    }
}

impl<V, F> Loads<V> for F
where
    F: FnOnce(Load<V>) -> Loading<V> + Send,
{
    fn load(self: Box<Self>, load: Load<V>) -> Loading<V> {
        self(load)
    }
}

/// A loader that always has a value.
pub(crate) fn present<V, L, E, F, Fut>(loader: F) -> Loader<V>
where
    F: FnOnce(Load<V>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<L, E>> + Send + 'static,
    L: Into<Loaded<V>>,
    E: Send + Sync + 'static,
{
    Box::new(move |load: Load<V>| -> Loading<V> {
        let loaded = loader(load);
        Box::pin(async move { loaded.await.map(|value| Some(value.into())).map_err(erased) })
    })
}

/// A loader that may find nothing.
pub(crate) fn optional<V, L, E, F, Fut>(loader: F) -> Loader<V>
where
    F: FnOnce(Load<V>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<Option<L>, E>> + Send + 'static,
    L: Into<Loaded<V>>,
    E: Send + Sync + 'static,
{
    Box::new(move |load: Load<V>| -> Loading<V> {
        let loaded = loader(load);
        Box::pin(async move { loaded.await.map(|found| found.map(Into::into)).map_err(erased) })
    })
}

fn erased<E: Send + Sync + 'static>(error: E) -> Arc<dyn Any + Send + Sync> {
    Arc::new(error)
}

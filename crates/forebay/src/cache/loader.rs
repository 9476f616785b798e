//! Loaders whose types are forgotten, so that a flight can run anybody's.

use std::{any::Any, sync::Arc};

use futures::future::BoxFuture;

use super::{
    bulkhead::SharedPermit,
    entry::{Load, Loaded},
};

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

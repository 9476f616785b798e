//! Loaders whose types are forgotten, so that a flight can run anybody's.

use std::{any::Any, sync::Arc};

use futures::future::BoxFuture;

use super::entry::{Load, Loaded};

/// A loader whose types are forgotten: `None` means that there is no such value.
pub(crate) type Loader<V> = Box<dyn FnOnce(Load<V>) -> Loading<V> + Send>;

/// A loader at work.
pub(crate) type Loading<V> = BoxFuture<'static, Result<Option<Loaded<V>>, Arc<dyn Any + Send + Sync>>>;

/// A loader that always has a value.
pub(crate) fn present<V, L, E, F, Fut>(loader: F) -> Loader<V>
where
    F: FnOnce(Load<V>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<L, E>> + Send + 'static,
    L: Into<Loaded<V>>,
    E: Send + Sync + 'static,
{
    Box::new(move |load| {
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
    Box::new(move |load| {
        let loaded = loader(load);
        Box::pin(async move { loaded.await.map(|found| found.map(Into::into)).map_err(erased) })
    })
}

fn erased<E: Send + Sync + 'static>(error: E) -> Arc<dyn Any + Send + Sync> {
    Arc::new(error)
}

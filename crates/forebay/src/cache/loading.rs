//! A cache with its loader bound once.

use std::{fmt, ops::Deref, sync::Arc};

use futures::future::BoxFuture;

use super::{
    Cache,
    builder::Builder,
    entry::{Load, Loaded},
    error::LoadError,
};
use crate::error::Error;

/// A loader with its state.
pub(crate) type Bound<V, E> = Arc<dyn Fn(Load<V>) -> BoxFuture<'static, Result<Loaded<V>, E>> + Send + Sync>;

/// A [`Cache`] that knows how to load; made by [`Builder::loader`](super::Builder::loader). Cheap to clone.
///
/// Everything but [`get`](Self::get) is the cache's own, through `Deref`.
pub struct Loading<V, E> {
    cache: Cache<V>,
    loader: Bound<V, E>,
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> Loading<V, E> {
    pub(crate) fn new(cache: Cache<V>, loader: Bound<V, E>) -> Self {
        Self { cache, loader }
    }

    /// Returns the value of `id`, loaded by the bound loader if no level has it.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`].
    pub async fn get(&self, id: impl AsRef<str>) -> Result<Arc<V>, LoadError<E>> {
        let loader = self.loader.clone();
        self.cache.get_or_load(id, move |load| loader(load)).await
    }
}

impl<V, E> Deref for Loading<V, E> {
    type Target = Cache<V>;

    fn deref(&self) -> &Cache<V> {
        &self.cache
    }
}

impl<V, E> Clone for Loading<V, E> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), loader: self.loader.clone() }
    }
}

impl<V, E> fmt::Debug for Loading<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loading").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// Builds a [`Loading`] cache.
#[must_use = "a builder does nothing until build()"]
pub struct LoadingBuilder<V, E> {
    builder: Builder<V>,
    loader: Bound<V, E>,
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> LoadingBuilder<V, E> {
    pub(crate) fn new(builder: Builder<V>, loader: Bound<V, E>) -> Self {
        Self { builder, loader }
    }

    /// Builds the cache.
    ///
    /// # Errors
    ///
    /// As for [`Builder::build`].
    pub fn build(self) -> Result<Loading<V, E>, Error> {
        Ok(Loading::new(self.builder.build()?, self.loader))
    }
}

impl<V, E> fmt::Debug for LoadingBuilder<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadingBuilder").field("builder", &self.builder).finish_non_exhaustive()
    }
}

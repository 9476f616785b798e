//! Loads that skip all levels.

use std::{sync::Arc, time::Duration};

use super::{
    Cache,
    entry::{Load, Loaded},
    error::LoadError,
    loader::{optional, present},
    lookup::LookupRequest,
};

/// Skips all levels; made by [`Cache::fresh`].
///
/// It joins a load that has not begun; it waits for one that has, and then loads again.
#[derive(Debug)]
pub struct Fresh<'a, V> {
    pub(super) cache: &'a Cache<V>,
}

impl<V: Send + Sync + 'static> Fresh<'_, V> {
    /// Loads the value of `id`, whatever the levels have.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`]; a stale value is no substitute.
    pub async fn get_or_load<L, E, F, Fut>(
        &self,
        id: impl AsRef<str>,
        loader: F,
    ) -> Result<Arc<V>, LoadError<E>>
    where
        F: FnOnce(Load<V>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<L, E>> + Send + 'static,
        L: Into<Loaded<V>>,
        E: Send + Sync + 'static,
    {
        Ok(self.cache.load(id.as_ref(), present(loader), true).await?.value)
    }

    /// Loads the value of `id`, or learns that there is none, whatever the levels have.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`]; a stale value is no substitute.
    pub async fn find_or_load<L, E, F, Fut>(
        &self,
        id: impl AsRef<str>,
        loader: F,
    ) -> Result<Option<Arc<V>>, LoadError<E>>
    where
        F: FnOnce(Load<V>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Option<L>, E>> + Send + 'static,
        L: Into<Loaded<V>>,
        E: Send + Sync + 'static,
    {
        Ok(self.cache.find(id.as_ref(), optional(loader), true).await?.map(|entry| entry.value))
    }

    /// Looks `id` up for a caller that loads by itself, whatever the levels have.
    pub fn lookup(&self, id: impl AsRef<str>, wait: Duration) -> LookupRequest<'_, V> {
        LookupRequest { fresh: true, ..self.cache.lookup(id, wait) }
    }
}

//! A cache with its loader bound once.

use std::{fmt, num::NonZeroU32, ops::Deref, sync::Arc};

use futures::{
    future::{BoxFuture, join_all},
    stream::{self, StreamExt},
};

use super::{
    Cache,
    batch::{AT_A_TIME, Distinct},
    builder::Builder,
    entry::{Load, Loaded},
    error::LoadError,
    warm::{self, Lack, Warming},
};
use crate::error::Error;

/// How many ids of one caller are loaded at a time.
const LOADS: usize = 64;

/// A loader with its state.
pub(crate) type Bound<V, E> = Arc<dyn Fn(Load<V>) -> BoxFuture<'static, Result<Loaded<V>, E>> + Send + Sync>;

/// A [`Cache`] that knows how to load; made by [`Builder::loader`](super::Builder::loader). Cheap to clone.
///
/// Everything but [`get`](Self::get) and [`get_many`](Self::get_many) is the cache's own, through `Deref`.
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

    /// Returns the values of `ids`, each id with its own answer, in the order given; what no level has is loaded by the
    /// bound loader, of at most 64 ids at a time.
    ///
    /// What process memory does not have is asked for together, in one round trip to each node per 1,000 ids. Of more
    /// than 64 ids, those that are to be loaded are then asked for again.
    ///
    /// A loader that takes many ids at once is bound by
    /// [`Builder::batch_loader`](super::Builder::batch_loader).
    pub async fn get_many<I: AsRef<str>>(
        &self,
        ids: impl IntoIterator<Item = I>,
    ) -> Vec<(I, Result<Arc<V>, LoadError<E>>)> {
        let ids = Distinct::of(ids);
        let mut answers = Vec::with_capacity(ids.distinct.len());
        for some in ids.distinct.chunks(AT_A_TIME) {
            let found = self.found(some).await;
            let loads = stream::iter(found.into_iter().zip(some.to_vec()))
                .map(|(found, id)| self.get_unless(found, id));
            answers.extend(loads.buffered(LOADS).collect::<Vec<_>>().await);
        }
        ids.places.into_iter().map(|(id, place)| (id, answers[place].clone())).collect()
    }

    /// What there is of `ids`, unless so few are asked for that all of them can be loaded at the same time.
    async fn found(&self, ids: &[Arc<str>]) -> Vec<Option<Arc<V>>> {
        match ids.len() <= LOADS {
            true => vec![None; ids.len()],
            false => join_all(ids.iter().map(|id| self.cache.inner.settled(id))).await,
        }
    }

    async fn get_unless(&self, found: Option<Arc<V>>, id: Arc<str>) -> Result<Arc<V>, LoadError<E>> {
        match found {
            Some(found) => Ok(found),
            None => self.get(id).await,
        }
    }

    async fn get_lacking(&self, id: &str, lack: Lack) -> Result<Arc<V>, LoadError<E>> {
        let loader = self.loader.clone();
        match lack {
            Lack::Value => self.get(id).await,
            Lack::Freshness => self.cache.fresh().get_or_load(id, move |load| loader(load)).await,
        }
    }

    /// Has `ids` loaded that are not fresh, in the background: at most `per_second` ids in a second on average and 64 at
    /// a time.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::{convert::Infallible, num::NonZeroU32, time::Duration};
    /// # use forebay::{Forebay, cache::Load};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// # let builder = forebay.cache::<u64>("catalog:price", Duration::from_secs(60));
    /// # let prices = builder.loader((), async |(), _: Load<u64>| Ok::<_, Infallible>(12)).build()?;
    /// let mut warming = prices.warm(["p-001", "p-002"], NonZeroU32::MAX);
    /// while let Some(progress) = warming.next().await {
    ///     println!("{} of {}", progress.done, progress.total);
    /// }
    /// assert_eq!(warming.progress().loaded, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn warm(&self, ids: impl IntoIterator<Item = impl AsRef<str>>, per_second: NonZeroU32) -> Warming {
        let cache = self.clone();
        let load = move |ids: Vec<Arc<str>>, lack| {
            let cache = cache.clone();
            async move {
                let loads = join_all(ids.iter().map(|id| cache.get_lacking(id, lack)));
                loads.await.iter().filter(|answer| answer.is_err()).count()
            }
        };
        warm::begin(self.cache.clone(), Distinct::of(ids).distinct, per_second, load)
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

//! Several ids at once: asked for together, and loaded in one call.

mod gathering;

use std::{collections::HashMap, fmt, num::NonZeroU32, ops::Deref, sync::Arc};

use futures::{
    future::{BoxFuture, join_all},
    stream::{self, StreamExt},
};

use self::gathering::Gathering;
use super::{
    Cache,
    backend::Change,
    builder::Builder,
    entry::{Load, Loaded},
    error::LoadError,
    loader::Loader,
    warm::{self, Lack, Warming},
    write::{Invalidated, Put},
};
use crate::error::Error;

/// How many ids are under way at a time: more would make all of them late.
pub(super) const AT_A_TIME: usize = 1_000;

/// A batch loader with its state.
type Bound<V, E> = Arc<dyn Fn(Vec<Load<V>>) -> BoxFuture<'static, Result<Answers<V, E>, E>> + Send + Sync>;

type Answers<V, E> = Vec<(String, Part<V, E>)>;

impl<V: Send + Sync + 'static> Cache<V> {
    /// Returns the values that levels have of `ids`, in the order given. Never loads.
    ///
    /// What process memory does not have is asked for together: in one round trip to each node, per 1,000 ids, and a second
    /// one where this process does not know yet what tags of them, or the space, were invalidated.
    pub async fn get_many(&self, ids: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Option<Arc<V>>> {
        let ids = Distinct::of(ids);
        let mut found = Vec::with_capacity(ids.distinct.len());
        for some in ids.distinct.chunks(AT_A_TIME) {
            found.extend(join_all(some.iter().map(|id| self.get(id))).await);
        }
        ids.places.into_iter().map(|(_, place)| found[place].clone()).collect()
    }

    /// Stores several values, 1,000 at a time. Returns what became of each, in the order given.
    pub async fn put_many<I, L>(&self, entries: impl IntoIterator<Item = (I, L)>) -> Vec<Result<Put, Error>>
    where
        I: AsRef<str>,
        L: Into<Loaded<V>>,
    {
        let puts = entries.into_iter().map(|(id, value)| self.put(id, value));
        stream::iter(puts.collect::<Vec<_>>()).buffered(AT_A_TIME).collect().await
    }

    /// Forgets the values of several ids, all at the same time: of all of them, also if nobody waits for the answer.
    pub async fn invalidate_many(&self, ids: impl IntoIterator<Item = impl AsRef<str>>) -> Invalidated {
        self.inner.change_all(ids, Change::Invalidate).await
    }
}

/// Ids as they were given, and each of them once.
pub(super) struct Distinct<I> {
    pub(super) distinct: Vec<Arc<str>>,
    /// Each id as given, with its place among the distinct ones.
    pub(super) places: Vec<(I, usize)>,
}

impl<I: AsRef<str>> Distinct<I> {
    pub(super) fn of(ids: impl IntoIterator<Item = I>) -> Self {
        let (mut known, mut distinct) = (HashMap::<Arc<str>, usize>::new(), Vec::new());
        let mut place_of = |id: &str| match known.get(id) {
            Some(place) => *place,
            None => {
                let whole: Arc<str> = id.into();
                known.insert(whole.clone(), distinct.len());
                distinct.push(whole);
                distinct.len() - 1
            }
        };
        let places = ids
            .into_iter()
            .map(|id| {
                let place = place_of(id.as_ref());
                (id, place)
            })
            .collect();
        Self { distinct, places }
    }
}

/// What a batch loader says of one id: a value, that there is none, or why it failed. Values, [`Loaded`] ones, and
/// `Result`s and `Option`s of both convert by `into()`.
#[derive(Debug)]
#[must_use]
pub struct Part<V, E>(Result<Option<Loaded<V>>, E>);

impl<V, E> From<V> for Part<V, E> {
    fn from(value: V) -> Self {
        Self(Ok(Some(value.into())))
    }
}

impl<V, E> From<Loaded<V>> for Part<V, E> {
    fn from(loaded: Loaded<V>) -> Self {
        Self(Ok(Some(loaded)))
    }
}

impl<V, E> From<Option<V>> for Part<V, E> {
    fn from(found: Option<V>) -> Self {
        Self(Ok(found.map(Into::into)))
    }
}

impl<V, E> From<Option<Loaded<V>>> for Part<V, E> {
    fn from(found: Option<Loaded<V>>) -> Self {
        Self(Ok(found))
    }
}

impl<V, E> From<Result<V, E>> for Part<V, E> {
    fn from(answer: Result<V, E>) -> Self {
        Self(answer.map(|value| Some(value.into())))
    }
}

impl<V, E> From<Result<Loaded<V>, E>> for Part<V, E> {
    fn from(answer: Result<Loaded<V>, E>) -> Self {
        Self(answer.map(Some))
    }
}

/// A [`Cache`] that knows how to load many ids by one call; made by
/// [`Builder::batch_loader`](super::Builder::batch_loader). Cheap to clone.
///
/// Everything but [`find`](Self::find) and [`get_many`](Self::get_many) is the cache's own, through `Deref`.
pub struct Batching<V, E> {
    cache: Cache<V>,
    loader: Bound<V, E>,
}

/// What is answered for one id of a batch; `None` where there is no value.
pub type Answered<V, E> = Result<Option<Arc<V>>, LoadError<E>>;

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> Batching<V, E> {
    /// Returns the value of `id`, loaded by the bound loader if no level has it, or `None` where the loader has none.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`].
    pub async fn find(&self, id: impl AsRef<str>) -> Answered<V, E> {
        self.some(&[id.as_ref().into()], Lack::Value).await.pop().unwrap_or(Ok(None))
    }

    /// Returns the values of `ids`, each id with its own answer, in the order given.
    ///
    /// What process memory does not have is asked for together, in one round trip to each node. Of what nobody has,
    /// the bound loader is called once with exactly the ids that nobody else loads; the others are waited for. Such an
    /// id that turns out to be unloaded after all comes in a later call, and so does one whose store takes more than
    /// 500 ms. At most 1,000 ids are under way at a time; more come one thousand after the other.
    ///
    /// Each id has a lease and a `load_timeout` of its own, and what is invalidated meanwhile is not stored. A call
    /// that fails, panics or takes too long does so for each of its ids. It takes one permit of the space's
    /// `load_concurrency`, and what fails in it is one failure to the `origin_breaker`, however many ids it has. It
    /// goes on as the space's [`abandoned`](super::Builder::abandoned) says when its callers have left; cancelled, it
    /// ends when nobody waits for any of its ids.
    pub async fn get_many<I: AsRef<str>>(
        &self,
        ids: impl IntoIterator<Item = I>,
    ) -> Vec<(I, Answered<V, E>)> {
        let ids = Distinct::of(ids);
        let mut answers = Vec::with_capacity(ids.distinct.len());
        for some in ids.distinct.chunks(AT_A_TIME) {
            answers.extend(self.some(some, Lack::Value).await);
        }
        ids.places.into_iter().map(|(id, place)| (id, answers[place].clone())).collect()
    }

    /// Has `ids` loaded that are not fresh, in the background: at most `per_second` ids in a second on average and 64 at
    /// a time, each lot in one call of the loader.
    pub fn warm(&self, ids: impl IntoIterator<Item = impl AsRef<str>>, per_second: NonZeroU32) -> Warming {
        let cache = self.clone();
        let load = move |ids: Vec<Arc<str>>, lack| {
            let cache = cache.clone();
            async move { cache.some(&ids, lack).await.iter().filter(|answer| answer.is_err()).count() }
        };
        warm::begin(self.cache.clone(), Distinct::of(ids).distinct, per_second, load)
    }

    /// As [`Self::get_many`], of different ids that are all under way at the same time.
    async fn some(&self, ids: &[Arc<str>], lack: Lack) -> Vec<Answered<V, E>> {
        let fresh = lack == Lack::Freshness;
        let hit = |id: &Arc<str>| if fresh { None } else { self.cache.inner.hit(id) };
        let hits: Vec<_> = ids.iter().map(hit).collect();
        let missing = hits.iter().filter(|hit| hit.is_none()).count();
        let context = &self.cache.inner.shared.context;
        let (tasks, clock) = (context.tasks.clone(), context.clock.clone());
        let mut places = Gathering::places(self.loader.clone(), tasks, clock, missing).into_iter();
        let answers = hits.into_iter().zip(ids).map(|(hit, id)| {
            let place = if hit.is_none() { places.next() } else { None };
            async move {
                match place {
                    Some(place) => {
                        let found = self.cache.find(id, Box::new(place) as Loader<V>, fresh).await;
                        found.map(|entry| entry.map(|entry| entry.value))
                    }
                    None => Ok(hit),
                }
            }
        });
        join_all(answers.collect::<Vec<_>>()).await
    }
}

impl<V, E> Deref for Batching<V, E> {
    type Target = Cache<V>;

    fn deref(&self) -> &Cache<V> {
        &self.cache
    }
}

impl<V, E> Clone for Batching<V, E> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), loader: self.loader.clone() }
    }
}

impl<V, E> fmt::Debug for Batching<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batching").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// Builds a [`Batching`] cache.
#[must_use = "a builder does nothing until build()"]
pub struct BatchingBuilder<V, E> {
    builder: Builder<V>,
    loader: Bound<V, E>,
}

impl<V: Send + Sync + 'static, E: Send + Sync + 'static> BatchingBuilder<V, E> {
    pub(super) fn new<S, R, I, P, F, Fut>(builder: Builder<V>, state: S, loader: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Vec<Load<V>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
        R: IntoIterator<Item = (I, P)>,
        I: Into<String>,
        P: Into<Part<V, E>>,
    {
        let loader = Arc::new(loader);
        let bound = move |loads| -> BoxFuture<'static, Result<Answers<V, E>, E>> {
            // Inside the task, so that a panic before the first await is one of the load.
            let (loader, state) = (loader.clone(), state.clone());
            Box::pin(async move {
                let answers = loader(state, loads).await?;
                Ok(answers.into_iter().map(|(id, part)| (id.into(), part.into())).collect())
            })
        };
        Self { builder, loader: Arc::new(bound) }
    }

    /// Builds the cache.
    ///
    /// # Errors
    ///
    /// As for [`Builder::build`].
    pub fn build(self) -> Result<Batching<V, E>, Error> {
        Ok(Batching { cache: self.builder.build()?, loader: self.loader })
    }
}

impl<V, E> fmt::Debug for BatchingBuilder<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchingBuilder").field("builder", &self.builder).finish_non_exhaustive()
    }
}

//! Building a cache: every option has a setter and a default.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use super::{
    Cache,
    adaptive::Adaptive,
    batch::{BatchingBuilder, Part},
    breaker::OriginBreaker,
    entry::{Load, Loaded},
    hearing::Overtaken,
    inner::Inner,
    loading::LoadingBuilder,
    options::{Abandoned, Coherence, Options},
    refresh::Refresh,
    site::Site,
};
use crate::{
    codec::Codec,
    error::{Error, ErrorKind},
    filter::Filter,
    key::Name,
    observe::{self, Event},
};

/// Builds a [`Cache`].
#[must_use = "a builder does nothing until build()"]
pub struct Builder<V> {
    site: Arc<dyn Site>,
    space: String,
    codec: Arc<dyn Codec<V>>,
    options: Options,
    local_time_to_live: Option<Duration>,
    wait: Option<Duration>,
    guard: Option<Filter>,
}

impl<V: Send + Sync + 'static> Builder<V> {
    pub(crate) fn new(
        site: Arc<dyn Site>,
        space: &str,
        time_to_live: Duration,
        codec: Arc<dyn Codec<V>>,
    ) -> Self {
        Self {
            site,
            space: space.into(),
            codec,
            options: Options::new(time_to_live),
            local_time_to_live: None,
            wait: None,
            guard: None,
        }
    }

    /// Sets the version of the values' shape and meaning: a change of either means a new one. Default: 1.
    pub fn version(mut self, version: u32) -> Self {
        self.options.version = version;
        self
    }

    /// Sets by which share `time_to_live` varies, up and down, so that what was stored together does not end
    /// together. At least 0, below 1. Default: 0.1.
    pub fn jitter(mut self, share: f64) -> Self {
        self.options.jitter = share;
        self
    }

    /// Sets bounds between which the fresh life of a loaded value follows from how often it is read, as [`Adaptive`]
    /// tells; `time_to_live`, which must lie within, is then the life of what is put. A life that a loader gives stays
    /// as it is. Default: none, every value has `time_to_live`.
    pub fn adaptive(mut self, min: Duration, max: Duration) -> Self {
        self.options.adaptive = Some(Adaptive { min, max });
        self
    }

    /// Sets how long a value is kept past its fresh life, for when the origin fails. Default: zero.
    pub fn stale_for(mut self, life: Duration) -> Self {
        self.options.stale_for = life;
        self
    }

    /// Sets how long it is remembered that there is no value. Default: not at all.
    pub fn absent_for(mut self, life: Duration) -> Self {
        self.options.absent_for = Some(life);
        self
    }

    /// Sets how long a value stays in process memory; zero keeps all out. Default: `time_to_live`, at most a
    /// minute.
    pub fn local_time_to_live(mut self, life: Duration) -> Self {
        self.local_time_to_live = Some(life);
        self
    }

    /// Sets how process memory learns of changes. Default: [`Coherence::Bus`].
    pub fn coherence(mut self, coherence: Coherence) -> Self {
        self.options.coherence = coherence;
        self
    }

    /// Sets what is done about values that are stale, or will be soon. Default: [`Refresh::Never`].
    pub fn refresh(mut self, refresh: Refresh) -> Self {
        self.options.refresh = refresh;
        self
    }

    /// Sets the hard end of a load. Default: 30 s.
    pub fn load_timeout(mut self, span: Duration) -> Self {
        self.options.load_timeout = span;
        self
    }

    /// Sets after how long a caller takes a stale value while the load goes on. Default: never.
    pub fn patience(mut self, span: Duration) -> Self {
        self.options.patience = Some(span);
        self
    }

    /// Sets how long a lease lasts unless renewed, and so how soon others take over from a process that died.
    /// At least 100 ms. Default: 5 s.
    pub fn lease(mut self, life: Duration) -> Self {
        self.options.lease = life;
        self
    }

    /// Sets how long a flight waits for somebody else's load. Default: `load_timeout`.
    pub fn wait(mut self, span: Duration) -> Self {
        self.wait = Some(span);
        self
    }

    /// Sets when the origin is left alone. Default: never.
    pub fn origin_breaker(mut self, rule: OriginBreaker) -> Self {
        self.options.origin_breaker = Some(rule);
        self
    }

    /// Sets how many loads of this space run at a time in this process; leases are not counted. Default: any
    /// number.
    pub fn load_concurrency(mut self, loads: usize) -> Self {
        self.options.load_concurrency = Some(loads);
        self
    }

    /// Sets for how long nobody tries again after a failed load. Default: 1 s.
    pub fn failure_for(mut self, life: Duration) -> Self {
        self.options.failure_for = life;
        self
    }

    /// Has each invalidation of ids, tags and of the whole space done a second time so long after, for an origin that is
    /// read from replicas: whatever a load in between read from one that lagged behind is gone then. Give it the longest
    /// lag. At least 1 ms. Default: invalidations are done once.
    ///
    /// A change of one id that is invalidated often is done again after the first and after the last of them. At most
    /// 10,000 ids and tags wait; beyond, the whole space is invalidated again in their place. Shutting down does at once
    /// what waits; a process that dies does not.
    pub fn invalidate_again_after(mut self, lag: Duration) -> Self {
        self.options.invalidate_again_after = Some(lag);
        self
    }

    /// Sets what happens to a load that nobody waits for any more. Default: [`Abandoned::Finish`].
    pub fn abandoned(mut self, abandoned: Abandoned) -> Self {
        self.options.abandoned = abandoned;
        self
    }

    /// Sets how values are written. Default: [`MessagePack`](crate::codec::MessagePack).
    pub fn codec(mut self, codec: impl Codec<V>) -> Self {
        self.codec = Arc::new(codec);
        self
    }

    /// Sets the payload size in bytes above which it is compressed. Default: 16 KiB.
    pub fn compress_above(mut self, bytes: usize) -> Self {
        self.options.compress_above = bytes;
        self
    }

    /// Sets the payload size in bytes above which a value is handed out but not stored; at most what the
    /// memory store's budget has room for. Default: 1 MiB.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.options.max_bytes = bytes;
        self
    }

    /// Has reads ask `filter` for ids that process memory does not have: where it says no, they end as absences, with
    /// neither a look at what is stored nor a load. So do [look-ups](Cache::lookup) and [fresh](Cache::fresh) reads;
    /// [`Cache::get_or_load`] is [`LoadError::Filtered`](super::LoadError::Filtered). The absence is not remembered.
    /// Default: none.
    ///
    /// A [put](Cache::put) does not add its id: what the filter does not know is not read again, except from process
    /// memory. Add each id to the filter before its row becomes visible.
    pub fn guarded_by(mut self, filter: &Filter) -> Self {
        self.guard = Some(filter.clone());
        self
    }

    /// Binds a loader, so that callers need not bring one. It gets a clone of `state` at every load.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};
    /// # use forebay::{Forebay, cache::Load};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// let db = Arc::new(HashMap::from([("p-001".to_owned(), 12_u64)]));
    /// let prices = forebay
    ///     .cache::<u64>("catalog:price", Duration::from_secs(60))
    ///     .loader(db, async |db: Arc<HashMap<String, u64>>, load: Load<u64>| {
    ///         Ok::<_, Infallible>(db[load.id()])
    ///     })
    ///     .build()?;
    /// assert_eq!(*prices.get("p-001").await?, 12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn loader<S, L, E, F, Fut>(self, state: S, loader: F) -> LoadingBuilder<V, E>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Load<V>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<L, E>> + Send + 'static,
        L: Into<Loaded<V>>,
        E: Send + Sync + 'static,
    {
        let loader = Arc::new(loader);
        let bound = move |load| {
            let loaded = loader(state.clone(), load);
            let into: futures::future::BoxFuture<'static, Result<Loaded<V>, E>> =
                Box::pin(async move { loaded.await.map(Into::into) });
            into
        };
        LoadingBuilder::new(self, Arc::new(bound))
    }

    /// Binds a loader that loads many ids by one call, for [`Batching::get_many`](super::Batching::get_many). It gets a
    /// clone of `state` at every call. An id that its answer does not name has no value, what it names beside those asked
    /// for is ignored, and of an id that it names twice the last counts.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::{collections::HashMap, convert::Infallible, time::Duration};
    /// # use forebay::{Forebay, cache::Load};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// let prices = forebay
    ///     .cache::<u64>("catalog:price", Duration::from_secs(60))
    ///     .batch_loader((), async |(), loads: Vec<Load<u64>>| {
    ///         // One query for all of them.
    ///         let known = |load: &Load<u64>| load.id().parse().ok().map(|price| (load.id().to_owned(), price));
    ///         Ok::<HashMap<String, u64>, Infallible>(loads.iter().filter_map(known).collect())
    ///     })
    ///     .build()?;
    /// let answers = prices.get_many(["12", "x"]).await;
    /// assert!(matches!(&answers[0], ("12", Ok(Some(price))) if **price == 12));
    /// assert!(matches!(&answers[1], ("x", Ok(None))));
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch_loader<S, R, I, P, E, F, Fut>(self, state: S, loader: F) -> BatchingBuilder<V, E>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Vec<Load<V>>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
        R: IntoIterator<Item = (I, P)>,
        I: Into<String>,
        P: Into<Part<V, E>>,
        E: Send + Sync + 'static,
    {
        BatchingBuilder::new(self, state, loader)
    }

    /// Builds the cache.
    ///
    /// # Errors
    ///
    /// A misspelt space, one that was built before, or options that contradict each other.
    pub fn build(self) -> Result<Cache<V>, Error> {
        let name = Name::new(self.space.clone())?;
        let options = self.resolved();
        options.check(name.as_str())?;
        // The only way to ask at run time, without a bound on V that every other type would have to meet.
        if std::any::type_name::<V>().starts_with("core::option::Option<") {
            let why =
                "values of type Option<_> cannot be told from absences; use find_or_load with the inner type";
            return Err(Error::new(ErrorKind::Config, format!("cache {name}: {why}")));
        }
        let counts = self.site.claim(&name)?;
        let shared = self.site.shared();
        if options.coherence == Coherence::Tracking {
            self.site.track();
        }
        let space = shared.memory.space();
        let numbers = shared.epochs.open(options.coherence);
        let backend = self.site.backend(&name, space, &options, &numbers);
        let mut inner = Inner::new((name.clone(), space), options, self.codec, backend, numbers, shared);
        (inner.guard, inner.counts) = (self.guard, counts);
        let cache = Cache::from(inner);
        let hears: Weak<dyn Overtaken> = Arc::<Inner<V>>::downgrade(&cache.inner);
        self.site.attend(&name, hears);
        cache.inner.record(Event::Built(observe::Part::Space(name.as_str())));
        Ok(cache)
    }

    fn resolved(&self) -> Options {
        let options = self.options.clone();
        let local = self.local_time_to_live.unwrap_or(options.local_time_to_live);
        Options {
            local_time_to_live: local.min(options.time_to_live),
            max_bytes: options.max_bytes.min(self.site.most_bytes()),
            wait: self.wait.unwrap_or(options.load_timeout),
            ..options
        }
    }
}

impl<V> fmt::Debug for Builder<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("space", &self.space)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

//! The cache: two levels, one load per miss, and no value stored that was invalidated while it loaded.
//!
//! | to see | read |
//! |---|---|
//! | what a caller goes through | `caller`, then `flight` and `verdict` for whom an answer may serve |
//! | what a flight does, and who flies it | `leader`, `acquire`, `queue`, `load`, `fill`; `pilot` |
//! | which ids nobody looks for | `guard` |
//! | what is loaded before it is missed | `refresh`, `pace` for how long loads take |
//! | what lives the longer the more it is read | `adaptive`, `frequency` for how often |
//! | how the loads of several ids become one call; what is loaded before anybody asks | `batch`, `warm` |
//! | what bounds a load | `grant` for its lease, `bulkhead`, `breaker`, `waits` for cycles |
//! | what callers change | `change`, then `write` |
//! | why nothing stale is stored | `fence`, `write` |
//! | how tags, and whole spaces, are invalidated | `numbers`, `current`, `epochs` |
//! | what is invalidated by a pattern of ids, or twice | `matching` and `pattern`, `again` |
//! | how callers read, or load by themselves | `read`, `entries`, `lookup`, `lease` |
//! | where values are | `local` (`slots`) in the process, `backend` and `memory` in the store, `envelope` on the way |
//! | how processes share a store | `redis` |
//! | what happens while that cannot be asked | `outage`, `deferred` for changes, `alone` for loads |
//! | what other processes change | `hearing` |
//! | what an operator is shown of one id | `inspect` |
//! | how a test puts a store out of reach | `faulty` |

mod acquire;
mod adaptive;
mod again;
mod alone;
mod backend;
mod batch;
mod breaker;
mod builder;
mod bulkhead;
mod caller;
mod change;
mod current;
mod deferred;
mod entries;
mod entry;
mod envelope;
mod epochs;
mod error;
mod faulty;
mod fence;
mod fill;
#[cfg(test)]
mod fixture;
mod flight;
mod flights;
mod frequency;
mod fresh;
mod grant;
mod guard;
mod hearing;
mod id;
mod inner;
mod inspect;
mod leader;
mod lease;
mod load;
mod loader;
mod loading;
mod local;
mod lookup;
mod matching;
mod memory;
#[cfg(all(test, forebay_shuttle))]
mod models;
mod numbers;
mod options;
mod outage;
mod pace;
mod pattern;
mod pilot;
mod queue;
mod read;
mod redis;
mod refresh;
mod seal;
mod site;
mod slots;
mod stats;
#[cfg(all(test, not(forebay_shuttle)))]
mod tests;
mod token;
mod verdict;
mod waits;
mod warm;
mod write;

use std::{fmt, sync::Arc, time::Duration};

#[doc(hidden)] // Shown in `testing`, which is a feature.
pub use self::faulty::{Fault, Faults};
pub use self::{
    adaptive::Adaptive,
    batch::{Answered, Batching, BatchingBuilder, Part},
    breaker::OriginBreaker,
    builder::Builder,
    entry::{Entry, Load, Loaded, Read, Source},
    error::LoadError,
    fresh::Fresh,
    inspect::{Found, InMemory, InStore, Inspection, Standing, StoredEntry, TagState},
    lease::{Filled, Lease, Returned},
    loading::{Loading, LoadingBuilder},
    lookup::{Lookup, LookupRequest},
    matching::Matched,
    options::{Abandoned, Coherence, Options},
    refresh::Refresh,
    stats::Stats,
    token::Token,
    warm::{Progress, Warming},
    write::{Invalidated, Put},
};
pub(crate) use self::{
    backend::Backend,
    bulkhead::Bulkhead,
    deferred::Deferred,
    epochs::Epochs,
    faulty::Faulty,
    hearing::{Hearing, Overtaken},
    inner::Shared,
    local::{Memory, Store},
    memory::{Leases, MemoryBackend, Register, Tags},
    numbers::Numbers,
    outage::Outage,
    redis::RedisBackend,
    site::Site,
    slots::Space,
    stats::Counts,
    waits::Waits,
};
use self::{
    inner::Inner,
    loader::{optional, present},
};

/// A cache of values of one type, in one space of the application. Cheap to clone.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::{convert::Infallible, time::Duration};
/// use forebay::Forebay;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(3600)).build()?;
///
/// let price = prices.get_or_load("p-001", async |_| Ok::<_, Infallible>(12)).await?;
/// assert_eq!(*price, 12);
///
/// prices.invalidate("p-001").await; // once the database has committed
/// assert!(prices.get("p-001").await.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Cache<V> {
    inner: Arc<Inner<V>>,
}

impl<V: Send + Sync + 'static> Cache<V> {
    /// Returns the value of `id`. If no level has it, one caller's `loader` loads it for everybody who asks.
    ///
    /// The loader runs in a task of its own: a caller that goes away harms nobody.
    ///
    /// # Errors
    ///
    /// The loader's own error, or the reason why no load could help; never a failure of the store.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::{sync::Arc, time::Duration};
    /// # use forebay::{Forebay, cache::LoadError};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// # let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(3600)).build()?;
    /// let answer = prices.get_or_load("p-001", async |load| load.id().parse::<u64>()).await;
    /// assert!(matches!(answer, Err(LoadError::Failed(error)) if error.to_string().contains("invalid digit")));
    /// # Ok(())
    /// # }
    /// ```
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
        match self.inner.hit(id.as_ref()) {
            Some(value) => Ok(value),
            None => Ok(self.load(id.as_ref(), present(loader), false).await?.value),
        }
    }

    /// Returns the value of `id`, or `None` where the origin has none; the space remembers that for its
    /// `absent_for`.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`].
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
        match self.inner.hit(id.as_ref()) {
            Some(value) => Ok(Some(value)),
            None => Ok(self.find(id.as_ref(), optional(loader), false).await?.map(|entry| entry.value)),
        }
    }

    /// Skips all levels for one call: the value is loaded anew, and stored.
    ///
    /// What other processes have in memory stays there for their `local_time_to_live`, as nothing has changed for all
    /// that is known: [`Cache::invalidate`] tells them.
    pub fn fresh(&self) -> Fresh<'_, V> {
        Fresh { cache: self }
    }

    /// Returns the value of `id` if a level has it. Never loads.
    pub async fn get(&self, id: impl AsRef<str>) -> Option<Arc<V>> {
        match self.read(id).await {
            Read::Hit(entry) => Some(entry.value),
            Read::Absent | Read::Miss => None,
        }
    }

    /// Returns what the levels know of `id`. Never loads. A stale value is a hit unless the space has
    /// [`Refresh::Never`].
    pub async fn read(&self, id: impl AsRef<str>) -> Read<V> {
        self.inner.read(id.as_ref()).await
    }

    /// Looks `id` up for a caller that loads by itself: returns the value, or hands out the lease. Waits at
    /// most `wait` for somebody else's load.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # use forebay::{Forebay, cache::{Filled, Lookup}};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// # let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(3600)).build()?;
    /// let borrowed = String::from("12");
    /// match prices.lookup("p-001", Duration::from_secs(2)).await {
    ///     Lookup::Hit(entry) => println!("{}", entry.value),
    ///     Lookup::Lease(lease) => assert_eq!(lease.fill(borrowed.parse::<u64>()?).await?, Filled::Stored),
    ///     other => println!("not now: {other:?}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn lookup(&self, id: impl AsRef<str>, wait: Duration) -> LookupRequest<'_, V> {
        LookupRequest {
            inner: &self.inner,
            id: id.as_ref().to_owned(),
            wait,
            lease: self.inner.options.lease,
            fresh: false,
        }
    }

    /// Takes up the lease of a token from [`Lease::into_token`]. Whether it is still held shows at its first
    /// use. Dropping it does not give it back.
    pub fn resume(&self, id: impl AsRef<str>, token: Token) -> Lease<V> {
        Lease::resume(self.inner.clone(), id.as_ref(), token)
    }

    /// The name of the space.
    pub fn space(&self) -> &str {
        self.inner.name.as_str()
    }

    /// What the cache was built with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// What the cache has done since it was built.
    pub fn stats(&self) -> Stats {
        self.inner.counts.snapshot()
    }
}

impl<V: Send + Sync + 'static> From<Inner<V>> for Cache<V> {
    fn from(inner: Inner<V>) -> Self {
        let inner = Arc::new(inner);
        inner.fly_on_in_shutdown();
        Self { inner }
    }
}

impl<V> Clone for Cache<V> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

//! The one object that an application opens: it hands out primitives, and shuts them down in order.

mod builder;
mod figures;
mod health;
mod homes;
mod local;
mod remote;
mod spaces;

use std::{fmt, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

pub use self::{
    builder::Builder,
    figures::{Figures, MemoryFigures, SpaceFigures},
};
use self::{homes::Homes, local::Local, remote::Remote, spaces::Spaces};
use crate::{
    cache::{self, Deferred, Leases, Memory, Shared, Site},
    codec::{Codec, MessagePack},
    context::Context,
    error::Error,
    filter,
    limiter::{self, Tiers},
    lock::Lock,
    once,
    status::Status,
    tasks::Tasks,
    token::Token,
    topic, unique,
};

/// How often what is past its deadline is removed. It is out of use from the deadline on.
const SWEEP: Duration = Duration::from_secs(5);

/// How long each step of shutting down may take beyond the budget: nobody waits for anything any more.
const CLOSING: Duration = Duration::from_millis(50);

/// The acceleration layer of one application in one process. Cheap to clone.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::Forebay;
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(60)).build()?;
/// prices.put("p-001", 12).await?;
/// forebay.shutdown(Duration::from_secs(1)).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Forebay {
    store: Store,
}

/// Where everything is kept.
#[derive(Clone)]
enum Store {
    Local(Arc<Local>),
    Remote(Arc<Remote>),
}

impl Forebay {
    /// Begins a `Forebay` for the application `app` (`[a-z0-9._-]`, at most 64 characters), whose name is part
    /// of every key.
    pub fn builder(app: impl Into<String>) -> Builder {
        Builder::new(app.into())
    }

    /// Begins a `Forebay` on the Redis of the environment variable `FOREBAY_REDIS_URL`, or on the memory store
    /// where there is none.
    pub fn from_env(app: impl Into<String>) -> Builder {
        match std::env::var("FOREBAY_REDIS_URL") {
            Ok(url) if !url.is_empty() => Self::builder(app).redis(url),
            _ => Self::builder(app),
        }
    }

    /// Begins the cache of one space, whose values are fresh for `time_to_live`. They are written as
    /// MessagePack unless the builder is given another codec.
    pub fn cache<V>(&self, space: &str, time_to_live: Duration) -> cache::Builder<V>
    where
        V: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.cache_with(space, time_to_live, MessagePack)
    }

    /// As [`Forebay::cache`], for values that only `codec` can write.
    pub fn cache_with<V>(
        &self,
        space: &str,
        time_to_live: Duration,
        codec: impl Codec<V>,
    ) -> cache::Builder<V>
    where
        V: Send + Sync + 'static,
    {
        let site: Arc<dyn Site> = match &self.store {
            Store::Local(local) => local.clone(),
            Store::Remote(remote) => remote.clone(),
        };
        cache::Builder::new(site, space, time_to_live, Arc::new(codec))
    }

    /// Begins the limiter of one policy (`[a-z0-9._:-]`, at most 64 characters) with its tiers.
    pub fn limiter(&self, policy: &str, tiers: Tiers) -> limiter::Builder {
        self.homes().health.rely();
        limiter::Builder::new(self.homes().limits.clone(), policy, tiers)
    }

    /// Begins the counter of one kind of visitors (`[a-z0-9._:-]`, at most 64 characters).
    pub fn unique(&self, counter: &str) -> unique::Builder {
        unique::Builder::new(self.homes().unique.clone(), counter)
    }

    /// Lists whose limits are in use: of at most 10,000 keys the number, and of 100 the counts. Where keys of other
    /// kinds are very many, not all are looked at.
    ///
    /// # Errors
    ///
    /// Redis cannot be asked.
    pub async fn limits(&self) -> Result<limiter::Listing, Error> {
        self.homes().limits.list().await
    }

    /// Names a lock, by any text.
    pub fn lock(&self, name: &str) -> Lock {
        self.homes().health.rely();
        Lock::new(self.homes().locks.clone(), name)
    }

    /// Claims `name` (any text) for `ttl`, unless somebody has: for cooldowns, one alert of many, one-time challenges.
    ///
    /// # Errors
    ///
    /// A life below 1 ms or beyond 3,650 days, or the store cannot be asked: a claim that it carries out late is taken
    /// back, so that nobody is kept out by it. Or something stands in its place that does not end
    /// ([`ErrorKind::Foreign`](crate::ErrorKind::Foreign)).
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use forebay::{Forebay, once::Claim};
    ///
    /// let forebay = Forebay::builder("shop").memory().build().await?;
    /// let minute = Duration::from_secs(60);
    /// assert!(forebay.claim("sign-up code:a@example.org", minute).await?.is_claimed());
    /// let again = forebay.claim("sign-up code:a@example.org", minute).await?;
    /// assert!(matches!(again, Claim::Taken { retry_after } if retry_after <= minute));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn claim(&self, name: &str, ttl: Duration) -> Result<once::Claim, Error> {
        self.homes().health.rely();
        self.homes().once.claim(name, ttl, None).await
    }

    /// As [`Forebay::claim`], under a token of the caller's: who asks again under it, after an answer that was lost,
    /// has claimed the name still. Its life is that of the first time.
    ///
    /// # Errors
    ///
    /// As [`Forebay::claim`], but nothing is taken back: ask again, or [`Forebay::unclaim`].
    pub async fn claim_as(&self, name: &str, ttl: Duration, token: Token) -> Result<once::Claim, Error> {
        self.homes().health.rely();
        self.homes().once.claim(name, ttl, Some(token)).await
    }

    /// Frees a claimed `name` before its time, and returns whether it was claimed under `token`.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn unclaim(&self, name: &str, token: Token) -> Result<bool, Error> {
        self.homes().once.unclaim(name, token).await
    }

    /// Begins what has work run once, however often it is asked for.
    pub fn idempotency(&self) -> once::Builder {
        self.homes().health.rely();
        self.homes().once.idempotency()
    }

    /// Begins the filter `name` (`[a-z0-9._:-]`, at most 64 characters), which knows the ids that were never added. A
    /// share of at most `rate` (1e-9 to below 1) of them it takes for added, while there are no more than `capacity`.
    pub fn filter(&self, name: &str, capacity: u64, rate: f64) -> filter::Builder {
        filter::Builder::new(self.homes().filters.clone(), name, capacity, rate)
    }

    /// Begins the topic `name` (`[a-z0-9._:-]`, at most 64 characters), to whose subscribers processes tell what has
    /// happened.
    pub fn topic(&self, name: &str) -> topic::Builder {
        topic::Builder::new(self.homes().topics.clone(), name)
    }

    /// How much of the process-memory budget is used, in bytes.
    pub fn local_bytes(&self) -> u64 {
        self.shared().memory.weight()
    }

    /// How it stands with its store.
    pub fn status(&self) -> Status {
        match &self.store {
            Store::Local(_) => Status::Memory,
            Store::Remote(remote) => Status::Redis(remote.status()),
        }
    }

    /// Refuses further loads, waits at most `budget` for those that run, then ends them. What is cached in this
    /// process can still be read.
    ///
    /// Over Redis, visitors that wait to be counted and changes that it has not confirmed are sent within the budget,
    /// consumers hand over what they have not settled in half of it, and the connections are closed.
    ///
    /// Returns whether everything ended by itself.
    pub async fn shutdown(&self, budget: Duration) -> bool {
        let all = match &self.store {
            Store::Local(local) => local.shut_down(budget).await,
            Store::Remote(remote) => remote.shut_down(budget).await,
        };
        if !all {
            tracing::warn!(budget_ms = budget.as_millis(), "shutdown ended tasks that were over its budget");
        }
        all
    }

    fn homes(&self) -> &Homes {
        match &self.store {
            Store::Local(local) => &local.homes,
            Store::Remote(remote) => &remote.homes,
        }
    }

    fn shared(&self) -> &Shared {
        match &self.store {
            Store::Local(local) => &local.shared,
            Store::Remote(remote) => &remote.shared,
        }
    }
}

impl fmt::Debug for Forebay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forebay").field("app", &self.shared().context.app).finish_non_exhaustive()
    }
}

/// Ends tasks once neither the `Forebay` nor a cache of it is left.
#[derive(Debug)]
struct Anchor(Tasks);

impl Drop for Anchor {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Has deferred changes confirmed until the tasks are stopped.
fn confirm(deferred: Arc<Deferred>, tasks: Tasks) {
    tasks.clone().spawn(async move {
        tokio::select! {
            () = deferred.run() => {}
            () = tasks.stopping() => {}
        }
    });
}

/// Removes values and leases, for as long as the `Forebay` or a cache of it is left.
fn sweep(context: &Context, memory: &Arc<Memory>, leases: &Arc<Leases>) {
    let (memory, leases, clock) = (Arc::downgrade(memory), Arc::downgrade(leases), context.clock.clone());
    now_and_then(context, move || {
        let (memory, leases) = (memory.upgrade()?, leases.upgrade()?);
        memory.sweep(&clock);
        leases.sweep();
        Some(())
    });
}

/// Removes what is past its deadline, for as long as the `Forebay` or a primitive of it is left.
fn sweep_with<T: Send + Sync + 'static>(context: &Context, kept: &Arc<T>, sweep: fn(&T)) {
    let kept = Arc::downgrade(kept);
    now_and_then(context, move || {
        sweep(&*kept.upgrade()?);
        Some(())
    });
}

/// Does `work` until shutdown, or until there is none left.
fn now_and_then(context: &Context, work: impl Fn() -> Option<()> + Send + 'static) {
    let (clock, tasks) = (context.clock.clone(), context.tasks.clone());
    context.tasks.spawn(async move {
        loop {
            tokio::select! {
                () = clock.sleep(SWEEP) => {}
                () = tasks.stopping() => return,
            }
            if work().is_none() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[tokio::test]
    async fn what_has_ended_is_swept_although_only_a_cache_is_left() {
        let (clock, time) = Clock::manual();
        let forebay = Forebay::builder("sweep").memory().clock(clock).build().await.unwrap();
        let cache = forebay.cache::<u64>("numbers", Duration::from_secs(1)).build().unwrap();
        let memory = forebay.shared().memory.clone();
        drop(forebay);
        cache.put("a", 1).await.unwrap();
        assert!(memory.weight() > 0);
        for _ in 0..4 {
            tokio::task::yield_now().await;
            time.advance(SWEEP);
        }
        tokio::task::yield_now().await;
        assert_eq!(memory.weight(), 0);
    }
}

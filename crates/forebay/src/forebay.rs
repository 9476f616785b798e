//! The one object that an application opens: it hands out primitives, and shuts them down in order.

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    cache::{self, Bulkhead, Epoch, Leases, Memory, MemoryBackend, Shared, Site, Space, Waits},
    clock::Clock,
    codec::{Codec, MessagePack},
    context::Context,
    dice::Dice,
    error::{Error, ErrorKind},
    key::{App, Keys, Name},
    observe::{Observe, Silent},
    status::Status,
    sync::Mutex,
    tasks::Tasks,
    wake::Wake,
};

/// How often what is past its deadline is removed. It is out of use from the deadline on.
const SWEEP: Duration = Duration::from_secs(5);

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
    site: Arc<Local>,
}

impl Forebay {
    /// Begins a `Forebay` for the application `app` (`[a-z0-9._-]`, at most 64 characters), whose name is part
    /// of every key.
    pub fn builder(app: impl Into<String>) -> Builder {
        Builder {
            app: app.into(),
            redis: None,
            // Room for tens of thousands of usual entries, and small beside the service that it serves.
            local_bytes: 64 << 20,
            // As many loads as a database's pool commonly has connections, twice over.
            outage_concurrency: 64,
            clock: None,
            dice: Dice::fair(),
            observe: Arc::new(Silent),
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
        cache::Builder::new(self.site.clone(), space, time_to_live, Arc::new(codec))
    }

    /// How much of the process-memory budget is used, in bytes.
    pub fn local_bytes(&self) -> u64 {
        self.site.shared.memory.weight()
    }

    /// How it stands with its store.
    pub fn status(&self) -> Status {
        Status::Memory
    }

    /// Refuses further loads, waits at most `budget` for those that run, then ends them. What is cached can
    /// still be read.
    ///
    /// Returns whether everything ended by itself.
    pub async fn shutdown(&self, budget: Duration) -> bool {
        let context = &self.site.shared.context;
        let all = context.tasks.shut_down(&context.clock, budget).await;
        if !all {
            tracing::warn!(budget_ms = budget.as_millis(), "shutdown ended tasks that were over its budget");
        }
        all
    }
}

impl fmt::Debug for Forebay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forebay").field("app", &self.site.shared.context.app).finish_non_exhaustive()
    }
}

/// Builds a [`Forebay`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    app: String,
    redis: Option<String>,
    local_bytes: u64,
    outage_concurrency: usize,
    clock: Option<Clock>,
    dice: Dice,
    observe: Arc<dyn Observe>,
}

impl Builder {
    /// Keeps everything in this process. Default.
    pub fn memory(mut self) -> Self {
        self.redis = None;
        self
    }

    /// Shares everything through the Redis or Valkey server at `url`: `redis://`, `rediss://` for TLS, or
    /// `redis+cluster://` with the addresses of some nodes, separated by commas.
    ///
    /// A server that cannot be reached is no error: it is used once it can be.
    pub fn redis(mut self, url: impl Into<String>) -> Self {
        self.redis = Some(url.into());
        self
    }

    /// Sets the budget of process memory in bytes: values, the memory store's entries and running loads.
    /// At least 64 KiB. Default: 64 MiB.
    pub fn local_bytes(mut self, bytes: u64) -> Self {
        self.local_bytes = bytes;
        self
    }

    /// Sets how many loads may run at a time without a lease. Default: 64.
    pub fn outage_concurrency(mut self, loads: usize) -> Self {
        self.outage_concurrency = loads;
        self
    }

    /// Sets the clock. Default: the machine's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets where tokens, entry ids and jitter come from. Default: the operating system.
    pub fn dice(mut self, dice: Dice) -> Self {
        self.dice = dice;
        self
    }

    /// Sets who is told what happens. Default: nobody.
    pub fn observe(mut self, observe: impl Observe) -> Self {
        self.observe = Arc::new(observe);
        self
    }

    /// Builds the `Forebay`. Its tasks run on the Tokio runtime that this is called on, which must have timers
    /// and be driven for as long as the `Forebay` is used.
    ///
    /// # Errors
    ///
    /// An application name that cannot be part of a key, a setting that could not work, or no runtime.
    pub async fn build(self) -> Result<Forebay, Error> {
        let app = App::new(self.app)?;
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            let why = "a Forebay is built inside a Tokio runtime with timers, which then runs its tasks";
            return Err(Error::new(ErrorKind::Config, why));
        };
        if self.local_bytes < 64 << 10 {
            return Err(Error::new(ErrorKind::Config, "local_bytes is below 64 KiB; 64 MiB is the default"));
        }
        if self.outage_concurrency == 0 {
            return Err(Error::new(ErrorKind::Config, "outage_concurrency is 0; at least one load must run"));
        }
        let context = Context {
            app,
            clock: self.clock.unwrap_or_else(Clock::real),
            dice: self.dice,
            tasks: Tasks::on(runtime),
            observe: self.observe,
            wake: Wake::default(),
        };
        let site = Arc::new(Local {
            leases: Arc::new(Leases::new(context.clock.clone())),
            spaces: Mutex::default(),
            shared: Shared {
                memory: Arc::new(Memory::new(self.local_bytes)),
                epoch: Arc::new(Epoch::default()),
                waits: Waits::of_process(),
                outage: Bulkhead::new(self.outage_concurrency),
                context,
            },
        });
        sweep(&site);
        Ok(Forebay { site })
    }
}

/// The memory store and what its primitives share.
struct Local {
    shared: Shared,
    leases: Arc<Leases>,
    spaces: Mutex<HashSet<Name>>,
}

impl Site for Local {
    fn shared(&self) -> Shared {
        self.shared.clone()
    }

    fn claim(&self, name: &Name) -> Result<(), Error> {
        if self.spaces.lock().insert(name.clone()) {
            return Ok(());
        }
        let why = format!("cache {name} was built before in this Forebay; clone that one");
        Err(Error::new(ErrorKind::Config, why))
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.shared.memory.largest_value()).unwrap_or(usize::MAX)
    }

    fn backend(&self, name: &Name, space: Space, options: &cache::Options) -> Arc<dyn cache::Backend> {
        let context = &self.shared.context;
        Arc::new(MemoryBackend {
            name: name.clone(),
            version: options.version,
            space,
            keys: Keys::new(context.app.clone()),
            memory: self.shared.memory.clone(),
            leases: self.leases.clone(),
            clock: context.clock.clone(),
            wake: context.wake.clone(),
        })
    }
}

/// Sweeps until shutdown, or until neither the `Forebay` nor a cache of it is left.
fn sweep(site: &Local) {
    let (memory, leases) = (Arc::downgrade(&site.shared.memory), Arc::downgrade(&site.leases));
    let Context { clock, tasks, .. } = site.shared.context.clone();
    tasks.clone().spawn(async move {
        loop {
            tokio::select! {
                () = clock.sleep(SWEEP) => {}
                () = tasks.stopping() => return,
            }
            let (Some(memory), Some(leases)) = (memory.upgrade(), leases.upgrade()) else { return };
            memory.sweep(&clock);
            leases.sweep();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_has_ended_is_swept_although_only_a_cache_is_left() {
        let (clock, time) = Clock::manual();
        let forebay = Forebay::builder("sweep").memory().clock(clock).build().await.unwrap();
        let cache = forebay.cache::<u64>("numbers", Duration::from_secs(1)).build().unwrap();
        let memory = forebay.site.shared.memory.clone();
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

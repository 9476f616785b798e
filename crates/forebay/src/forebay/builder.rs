//! Building a `Forebay`: every setting has a setter and a default.

use std::{sync::Arc, time::Duration};

use super::{
    Forebay, Store,
    local::Local,
    remote::{Remote, Settings},
};
use crate::{
    cache::Faults,
    clock::Clock,
    context::Context,
    dice::Dice,
    error::{Error, ErrorKind},
    heavy::HeavyHitters,
    key::App,
    observe::{Observe, Silent},
    redis::{Address, BUDGET},
    tasks::Tasks,
    wake::Wake,
};

/// Builds a [`Forebay`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    app: String,
    redis: Option<String>,
    redis_budget: Duration,
    local_bytes: u64,
    outage_concurrency: usize,
    clock: Option<Clock>,
    dice: Dice,
    observe: Arc<dyn Observe>,
    heavy_hitters: bool,
    faults: Option<Faults>,
}

impl Builder {
    pub(super) fn new(app: String) -> Self {
        Self {
            app,
            redis: None,
            redis_budget: BUDGET,
            // Room for tens of thousands of usual entries, and small beside the service that it serves.
            local_bytes: 64 << 20,
            // As many loads as a database's pool commonly has connections, twice over.
            outage_concurrency: 64,
            clock: None,
            dice: Dice::fair(),
            observe: Arc::new(Silent),
            // It takes a few nanoseconds of each hit.
            heavy_hitters: false,
            faults: None,
        }
    }

    /// Keeps everything in this process. Default.
    pub fn memory(mut self) -> Self {
        self.redis = None;
        self
    }

    /// Shares everything through the Redis or Valkey server at `url`: `redis://`, `rediss://` for TLS,
    /// `redis+cluster://` with the addresses of some nodes, separated by commas, or
    /// `redis+sentinel://host:26379,host:26379/name` with those of sentinels and the name of the primary; `valkey`
    /// does in the place of `redis`.
    ///
    /// A server that cannot be reached is no error: it is used once it can be. Where the environment variable
    /// `FOREBAY_STORE` is `memory`, everything is kept in this process all the same.
    pub fn redis(mut self, url: impl Into<String>) -> Self {
        self.redis = Some(url.into());
        self
    }

    /// Sets how long all questions of one read to Redis may take together, connecting included; then the read
    /// goes on without. From 1 ms to a minute. Default: 50 ms.
    pub fn redis_budget(mut self, budget: Duration) -> Self {
        self.redis_budget = budget;
        self
    }

    /// Sets the budget of process memory in bytes: values, the memory store's entries and running loads, but not what
    /// limiters count. At least 64 KiB. Default: 64 MiB.
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

    /// Keeps note of the ids that are read most and the subjects that are refused most, by a sample, for
    /// [`Forebay::hot_keys`] and [`Forebay::most_refused`]. Default: no.
    pub fn heavy_hitters(mut self) -> Self {
        self.heavy_hitters = true;
        self
    }

    /// Lets `faults` say what is wrong with the memory store, for tests. Default: nothing.
    #[cfg(feature = "testing")]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = Some(faults);
        self
    }

    /// Builds the `Forebay`. Its tasks run on the Tokio runtime that this is called on, which must have timers
    /// and be driven for as long as the `Forebay` is used.
    ///
    /// # Errors
    ///
    /// An application name that cannot be part of a key, a setting that could not work, or no runtime.
    pub async fn build(self) -> Result<Forebay, Error> {
        let (app, address) = (App::new(self.app.clone())?, self.address()?);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            let why = "a Forebay is built inside a Tokio runtime with timers, which then runs its tasks";
            return Err(Error::new(ErrorKind::Config, why));
        };
        self.check(address.is_some())?;
        let own_clock = self.clock.is_some();
        let clock = self.clock.unwrap_or_else(Clock::real);
        let context = Context {
            app,
            clock: clock.clone(),
            dice: self.dice.clone(),
            tasks: Tasks::on(runtime.clone()),
            observe: self.observe,
            wake: Wake::default(),
            heavy: self.heavy_hitters.then(|| Arc::new(HeavyHitters::new(self.dice))),
        };
        let (bytes, loads) = (self.local_bytes, self.outage_concurrency);
        let store = match address {
            None => Store::Local(Arc::new(Local::open(context, bytes, loads, self.faults))),
            Some(address) => {
                let clock = if own_clock { Clock::real() } else { clock };
                let (budget, tasks) = (self.redis_budget, Tasks::on(runtime));
                let settings = Settings { address, budget, clock, tasks };
                Store::Remote(Arc::new(Remote::open(context, settings, bytes, loads)))
            }
        };
        Ok(Forebay { store })
    }

    /// Refuses settings that could not work, by name and with the remedy.
    fn check(&self, remote: bool) -> Result<(), Error> {
        let (short, long) = (Duration::from_millis(1), Duration::from_secs(60));
        let rules = [
            (self.local_bytes < 64 << 10, "local_bytes is below 64 KiB; 64 MiB is the default"),
            (self.redis_budget < short, "redis_budget is below 1 ms; 50 ms is the default"),
            (self.redis_budget > long, "redis_budget is over a minute; 50 ms is the default"),
            (self.outage_concurrency == 0, "outage_concurrency is 0; at least one load must run"),
            (
                remote && self.faults.is_some(),
                "faults are for the memory store; put a testing::Proxy before Redis",
            ),
        ];
        match rules.into_iter().find(|(broken, _)| *broken) {
            Some((_, why)) => Err(Error::new(ErrorKind::Config, why)),
            None => Ok(()),
        }
    }

    /// Where Redis is, unless the memory store is asked for: by this builder, or for the whole process.
    fn address(&self) -> Result<Option<Address>, Error> {
        let memory = std::env::var_os("FOREBAY_STORE").is_some_and(|store| store == "memory");
        self.redis.as_deref().filter(|_| !memory).map(Address::parse).transpose()
    }
}

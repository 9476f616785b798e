//! Time as the crate sees it: the one place where a clock is read, and where a task sleeps.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use tokio::sync::watch;

/// How often the coarse clock moves, and so by how much it may lag: an entry of process memory may outlive
/// its deadline by this much.
pub const TICK: Duration = Duration::from_millis(5);

type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An instant of one [`Clock`], in whole milliseconds since that clock began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// The moment that never comes.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment of a [reading](Clock::reading).
    pub(crate) fn of(reading: Duration) -> Self {
        Self(millis(reading))
    }

    /// The time from `earlier` to this moment; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The moment `span` before this one, at least the beginning of the clock.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(millis(span)))
    }

    /// The moment `span` after this one, at most [`Moment::NEVER`].
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(millis(span)))
    }
}

/// The latest of the moments that it was told of.
#[derive(Debug, Default)]
pub(crate) struct Latest(AtomicU64);

impl Latest {
    /// Takes note of `moment`. That costs other threads nothing unless it is later than what was told of before.
    pub(crate) fn tell(&self, moment: Moment) {
        if self.get() < moment {
            self.0.fetch_max(moment.0, Relaxed);
        }
    }

    pub(crate) fn get(&self) -> Moment {
        Moment(self.0.load(Relaxed))
    }
}

/// Where a [`Clock`] takes its time from.
pub trait TimeSource: Send + Sync {
    /// The time since the clock began.
    fn now(&self) -> Duration;

    /// Completes once `span` has passed.
    fn sleep(&self, span: Duration) -> Sleep;
}

/// A monotonic clock with a precise and a coarse hand; cheap to clone.
///
/// The coarse hand is one atomic load, made for the path of a hit in process memory.
#[derive(Clone)]
pub struct Clock {
    source: Arc<dyn TimeSource>,
    coarse: Arc<AtomicU64>,
}

impl Clock {
    /// The clock of the machine. Its coarse hand is moved every [`TICK`] by a thread that ends with the clock.
    ///
    /// # Panics
    ///
    /// Panics if the operating system refuses the thread.
    pub fn real() -> Self {
        let clock = Self::from_source(Arc::new(Real::default()));
        tick(Arc::downgrade(&clock.source), Arc::downgrade(&clock.coarse));
        clock
    }

    /// A clock that stands still until its [`Manual`] moves it.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// use forebay::clock::Clock;
    ///
    /// let (clock, manual) = Clock::manual();
    /// let before = clock.now();
    /// manual.advance(Duration::from_secs(3600));
    /// assert_eq!(clock.now().since(before), Duration::from_secs(3600));
    /// ```
    pub fn manual() -> (Self, Manual) {
        let manual = Manual { now: Arc::new(watch::Sender::new(Duration::ZERO)), coarse: Arc::default() };
        let clock = Self { source: Arc::new(manual.clone()), coarse: manual.coarse.clone() };
        (clock, manual)
    }

    /// A clock over a source of the caller's. Its coarse hand moves only when [`Clock::tick`] is called.
    pub fn from_source(source: Arc<dyn TimeSource>) -> Self {
        Self { source, coarse: Arc::default() }
    }

    /// Sets the coarse hand to the precise time.
    pub fn tick(&self) {
        self.coarse.store(millis(self.source.now()), Relaxed);
    }

    /// The precise time.
    pub fn now(&self) -> Moment {
        Moment(millis(self.source.now()))
    }

    /// The precise time since the clock began, finer than a [`Moment`].
    pub(crate) fn reading(&self) -> Duration {
        self.source.now()
    }

    /// The time as of the last tick.
    #[inline]
    pub fn coarse(&self) -> Moment {
        Moment(self.coarse.load(Relaxed))
    }

    /// Completes once `span` has passed.
    pub fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.source.sleep(span)
    }

    /// Runs `work` for at most `span`; `None` when that was not enough.
    pub async fn timeout<T>(&self, span: Duration, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.sleep(span) => None,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("coarse", &self.coarse()).finish_non_exhaustive()
    }
}

/// Moves a clock made by [`Clock::manual`].
#[derive(Debug, Clone)]
pub struct Manual {
    now: Arc<watch::Sender<Duration>>,
    coarse: Arc<AtomicU64>,
}

impl Manual {
    /// Moves both hands forward by `span` and wakes whoever slept until then.
    pub fn advance(&self, span: Duration) {
        self.now.send_modify(|now| {
            *now = now.saturating_add(span);
            self.coarse.store(millis(*now), Relaxed);
        });
    }
}

impl TimeSource for Manual {
    fn now(&self) -> Duration {
        *self.now.borrow()
    }

    fn sleep(&self, span: Duration) -> Sleep {
        let mut time = self.now.subscribe();
        let until = self.now().saturating_add(span);
        Box::pin(async move {
            if time.wait_for(|now| *now >= until).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// How much of what a store grants for `life` its holder may count on, from before it asked: clocks run differently
/// fast, by less than a hundredth, and whoever has lost something needs a moment to stop.
pub(crate) fn trusted(life: Duration) -> Duration {
    life.saturating_sub(life / 100 + Duration::from_millis(50))
}

/// The time of day as this machine has it, since 1970. It is shown, in headers that want it, and decides nothing.
#[expect(clippy::disallowed_methods, reason = "the one place where the time of day is read")]
pub(crate) fn time_of_day() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

/// Runs `work` for at most `span` of the machine's time; `None` when that was not enough.
#[cfg(feature = "tower")]
pub(crate) async fn within<T>(span: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(span, work).await.ok()
}

/// Counts the time that the machine slept, where the system tells: what was held before may be another's afterwards.
struct Real(Duration);

impl Default for Real {
    fn default() -> Self {
        Self(since_boot())
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "the one place where the precise clock is read")]
fn since_boot() -> Duration {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed()
}

impl TimeSource for Real {
    fn now(&self) -> Duration {
        since_boot().saturating_sub(self.0)
    }

    fn sleep(&self, span: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(span))
    }
}

fn tick(source: Weak<dyn TimeSource>, coarse: Weak<AtomicU64>) {
    let run = move || {
        while let (Some(source), Some(coarse)) = (source.upgrade(), coarse.upgrade()) {
            coarse.store(millis(source.now()), Relaxed);
            drop((source, coarse));
            thread::sleep(TICK);
        }
    };
    thread::Builder::new()
        .name("forebay-tick".into())
        .spawn(run)
        .expect("a thread for the coarse clock can be started");
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

//! What a space does: every option with its default, and what a life becomes under them.

use std::time::Duration;

use super::{adaptive::Adaptive, breaker::OriginBreaker, entry::Loaded, refresh::Refresh};
use crate::{
    dice::Dice,
    error::{Error, ErrorKind},
};

/// The longest life of an entry, about 142,000 years: in milliseconds it and a date fit what `PX` and the
/// doubles of a script can hold exactly.
pub(crate) const LONGEST: Duration = Duration::from_millis(1 << 52);

/// A load that takes longer may store what is a miss.
const LONGEST_LOAD: Duration = Duration::from_secs(60);

/// The shortest life that a store can hold.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);

/// What a cache does, as it was built.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The version of the values' shape and meaning.
    pub version: u32,
    /// How long a value is fresh.
    pub time_to_live: Duration,
    /// The share by which `time_to_live` varies, up and down.
    pub jitter: f64,
    /// Between what bounds the life of a loaded value follows from how often it is read.
    pub adaptive: Option<Adaptive>,
    /// How long a value is kept past its fresh life.
    pub stale_for: Duration,
    /// How long an absence is remembered.
    pub absent_for: Option<Duration>,
    /// How long a value stays in process memory; zero keeps it out.
    pub local_time_to_live: Duration,
    /// When a value in process memory is no longer believed, besides at the end of that time.
    pub coherence: Coherence,
    /// What is done about a value that is stale, or will be soon.
    pub refresh: Refresh,
    /// The hard end of a load.
    pub load_timeout: Duration,
    /// How long a caller waits before it takes a stale value instead.
    pub patience: Option<Duration>,
    /// How long a lease lasts unless renewed.
    pub lease: Duration,
    /// How long a flight waits for somebody else's load.
    pub wait: Duration,
    /// When the origin is left alone.
    pub origin_breaker: Option<OriginBreaker>,
    /// How many loads of the space run at a time.
    pub load_concurrency: Option<usize>,
    /// How long a failure is remembered.
    pub failure_for: Duration,
    /// How long after an invalidation it is done a second time.
    pub invalidate_again_after: Option<Duration>,
    /// What happens to a load that nobody waits for any more.
    pub abandoned: Abandoned,
    /// The size in bytes above which a payload is compressed.
    pub compress_above: usize,
    /// The size in bytes above which an entry is not stored.
    pub max_bytes: usize,
}

/// What happens to a load when the last caller that waited for it has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Abandoned {
    /// It goes on, and its value is stored.
    #[default]
    Finish,
    /// It is cancelled, and its lease given back.
    Cancel,
}

/// How process memory learns that a value in it is not what is stored any more. It never holds one for longer than the
/// `local_time_to_live` of its space, and this process's own changes take effect in it at once under each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Coherence {
    /// Processes tell each other what they change. What may have been missed makes all suspect: suspect values are asked
    /// for again, and used as they are only while Redis cannot be asked.
    #[default]
    Bus,
    /// As [`Bus`](Coherence::Bus), and besides Redis tells of every write of a value, whoever does it: a `DEL`, a `SET` or
    /// an expiry that no process of the application knows of.
    ///
    /// Each of them takes the value out of process memory, until it is read again. So the process that has loaded a value
    /// reads it once more, and one that was [expired](super::Cache::expire) is not in memory for while Redis cannot be
    /// asked. All processes are told of all values of the application, some 100 bytes for each write.
    ///
    /// Where Redis refuses `CLIENT TRACKING`, this is [`Bus`](Coherence::Bus); the log and
    /// [`RedisStatus::tracks`](crate::status::RedisStatus::tracks) say so. It is asked again at the next connection.
    Tracking,
    /// A value is used until its local life is over, whatever may have been missed: for up to that long after another
    /// process has changed it, unless that was heard.
    TtlOnly,
}

/// The two parts of an entry's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) fresh: Duration,
    pub(crate) stale: Duration,
}

impl Life {
    /// The lives an entry can have, in whole milliseconds; `None` when it would end before it began.
    fn of(fresh: Duration, stale: Duration) -> Option<Self> {
        let (fresh, stale) = (fresh.min(LONGEST / 2), stale.min(LONGEST / 2));
        (fresh >= SHORTEST).then_some(Self { fresh, stale })
    }

    pub(crate) fn total(self) -> Duration {
        self.fresh + self.stale
    }
}

/// How long numbers last that no entry with a life of `longest` is to outlive: twice as long, as they are prolonged
/// when half of that is over, and a load goes between that and the entry.
pub(crate) fn life_of_numbers(longest: Duration) -> Duration {
    (longest.saturating_add(LONGEST_LOAD)).saturating_mul(2).min(LONGEST)
}

impl Options {
    pub(crate) fn new(time_to_live: Duration) -> Self {
        Self {
            version: 1,
            time_to_live,
            // Enough to spread the ends of what was stored together.
            jitter: 0.1,
            adaptive: None,
            // Whether an old value or an absence may be an answer is for the application to say.
            stale_for: Duration::ZERO,
            absent_for: None,
            // One read of the store in a minute costs a hot key nothing.
            local_time_to_live: Duration::from_secs(60),
            // Other programs are not expected to write below our keys, and to be told of all writes costs.
            coherence: Coherence::Bus,
            refresh: Refresh::Never,
            // About as long as HTTP clients and proxies wait for an answer.
            load_timeout: Duration::from_secs(30),
            patience: None,
            // For so long a holder that died keeps the others waiting.
            lease: Duration::from_secs(5),
            // The builder takes `load_timeout` instead, unless it is told.
            wait: Duration::from_secs(30),
            origin_breaker: None,
            load_concurrency: None,
            // A failing origin is asked once a second, and its recovery is seen as soon.
            failure_for: Duration::from_secs(1),
            // Origins that answer from lagging replicas are the exception.
            invalidate_again_after: None,
            // The work is mostly done, and the next caller will want its value.
            abandoned: Abandoned::Finish,
            // Below this, compressing costs more than the bytes it saves.
            compress_above: 16 << 10,
            // Larger values would crowd out thousands of others.
            max_bytes: 1 << 20,
        }
    }

    /// The life of `loaded` as an entry; `None` when it is not to be stored.
    pub(crate) fn life<V>(&self, loaded: &Loaded<V>, dice: &Dice) -> Option<Life> {
        self.life_from(self.time_to_live, loaded, dice)
    }

    /// As [`Options::life`], of a value whose life would be `usual` without jitter.
    pub(crate) fn life_from<V>(&self, usual: Duration, loaded: &Loaded<V>, dice: &Dice) -> Option<Life> {
        let fresh = loaded.time_to_live.unwrap_or_else(|| self.jittered(usual, dice));
        loaded.stored.then(|| Life::of(fresh, loaded.stale_for.unwrap_or(self.stale_for)))?
    }

    /// The life of a remembered absence.
    pub(crate) fn absence(&self, life: Option<Duration>) -> Option<Life> {
        Life::of(life.or(self.absent_for)?, Duration::ZERO)
    }

    /// The longest life that an entry has under these options, unless it has one of its own.
    pub(crate) fn longest(&self) -> Duration {
        let most = self.adaptive.map_or(self.time_to_live, |adaptive| adaptive.max.max(self.time_to_live));
        let fresh = most.min(LONGEST / 2).mul_f64(1.0 + self.jitter);
        let absent = self.absent_for.unwrap_or_default();
        Life::of(fresh.max(absent), self.stale_for).map_or(LONGEST, Life::total)
    }

    fn jittered(&self, life: Duration, dice: &Dice) -> Duration {
        let life = life.min(LONGEST / 2);
        let jittered = life.mul_f64(1.0 + self.jitter * dice.swing());
        jittered.max(SHORTEST)
    }

    /// Refuses options that contradict each other, by name and with the remedy.
    pub(crate) fn check(&self, space: &str) -> Result<(), Error> {
        let broken = self.contradictions().into_iter().find(|(broken, _)| *broken).map(|(_, why)| why);
        let adaptive = || self.adaptive?.contradiction(self.time_to_live);
        match broken.or_else(|| self.refresh.contradiction()).or_else(adaptive) {
            Some(why) => Err(Error::new(ErrorKind::Config, format!("cache {space:?}: {why}"))),
            None => Ok(()),
        }
    }

    /// Every rule: whether it is broken, and what is said then.
    fn contradictions(&self) -> [(bool, &'static str); 12] {
        let short = |life: Duration| life < SHORTEST;
        let breaker = |rule: OriginBreaker| rule.failures == 0 || short(rule.window) || short(rule.pause);
        let stale = self.refresh == Refresh::Stale;
        [
            (self.version == 0, "version is 0; versions count from 1"),
            (
                short(self.time_to_live),
                "time_to_live is below a millisecond, so nothing would be stored; give it a life",
            ),
            (
                !(0.0..1.0).contains(&self.jitter),
                "jitter must be at least 0 and below 1; it is a share of time_to_live",
            ),
            (
                self.absent_for.is_some_and(short),
                "absent_for is below a millisecond; leave it out to remember no absence",
            ),
            (
                stale && short(self.stale_for),
                "refresh = stale has nothing to hand out while stale_for is 0; set stale_for",
            ),
            (
                self.patience.is_some() && short(self.stale_for),
                "patience has nothing to hand out while stale_for is 0; set stale_for",
            ),
            (short(self.load_timeout), "load_timeout is below a millisecond, so every load would time out"),
            (
                self.lease < Duration::from_millis(100),
                "lease is below 100 ms, too short to be renewed in time; 5 s is the default",
            ),
            (
                short(self.failure_for),
                "failure_for is below a millisecond; waiters could not hear of a failure",
            ),
            (
                self.invalidate_again_after.is_some_and(short),
                "invalidate_again_after is below a millisecond; it is the longest lag of the origin's replicas",
            ),
            (
                self.load_concurrency == Some(0),
                "load_concurrency is 0, so nothing could be loaded; leave it out for no limit",
            ),
            (
                self.origin_breaker.is_some_and(breaker),
                "origin_breaker needs at least one failure, a window and a pause",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn life(options: &Options, seed: u64) -> Option<Life> {
        options.life(&Loaded::new(()), &Dice::seeded(seed))
    }

    #[test]
    fn the_longest_lives_are_clamped() {
        let options = Options { stale_for: Duration::MAX, jitter: 0.99, ..Options::new(Duration::MAX) };
        options.check("a").unwrap();
        let life = life(&options, 1).unwrap();
        assert!(life.total() <= LONGEST, "{life:?}");
    }

    #[test]
    fn a_life_that_ends_before_it_began_is_refused() {
        for life in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(999)] {
            let refusal = Options::new(life).check("a").unwrap_err().to_string();
            assert!(refusal.contains("time_to_live"), "{refusal}");
        }
    }

    proptest! {
        #[test]
        fn jitter_stays_within_its_share(
            ms in 1_u64..1 << 50, jitter in 0.0..1.0_f64, seed: u64,
        ) {
            let options = Options { jitter, ..Options::new(Duration::from_millis(ms)) };
            let fresh = life(&options, seed).unwrap().fresh.as_secs_f64();
            let ttl = options.time_to_live.as_secs_f64();
            let rounding = 1e-3 + ttl * 1e-9;
            prop_assert!(fresh >= ttl * (1.0 - jitter) - rounding && fresh <= ttl * (1.0 + jitter) + rounding);
        }
    }
}

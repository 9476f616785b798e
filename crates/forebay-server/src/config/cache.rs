//! The table `[cache]`: the budget of process memory, and the spaces with their options.

use std::{collections::BTreeMap, time::Duration};

use forebay::cache::{self, Abandoned, Coherence, OriginBreaker};
use serde::Deserialize;

use super::{
    WAIT,
    period::Period,
    refresh::{self, RefreshName},
};
use crate::content::Content;

/// The least process memory that the library takes.
const LEAST_BYTES: u64 = 64 * 1024;

/// Settings of the cache as a whole. File only.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [cache]")]
pub(crate) struct Cache {
    /// How many bytes process memory may hold. Default: the library's 64 MiB.
    pub(crate) local_bytes: Option<u64>,
    /// How many loads may run at a time without a lease. Default: the library's 64.
    pub(crate) outage_concurrency: Option<usize>,
    /// The spaces that are declared. Others are made when something may be stored in them.
    pub(crate) spaces: BTreeMap<String, Space>,
}

/// Options of a space, by the names that the library's builder gives them. Defaults: the library's.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [cache.spaces.\"…\"]")]
pub(crate) struct Space {
    version: Option<u32>,
    time_to_live: Option<Period>,
    jitter: Option<f64>,
    adaptive: Option<Bounds>,
    stale_for: Option<Period>,
    absent_for: Option<Period>,
    local_time_to_live: Option<Period>,
    coherence: Option<CoherenceName>,
    refresh: Option<RefreshName>,
    beta: Option<f64>,
    ahead: Option<f64>,
    load_timeout: Option<Period>,
    patience: Option<Period>,
    lease: Option<Period>,
    wait: Option<Period>,
    origin_breaker: Option<Breaker>,
    load_concurrency: Option<usize>,
    failure_for: Option<Period>,
    invalidate_again_after: Option<Period>,
    abandoned: Option<AbandonedName>,
    compress_above: Option<usize>,
    max_bytes: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = r#"both of `adaptive = { min = "1m", max = "1h" }`"#)]
struct Bounds {
    min: Period,
    max: Period,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CoherenceName {
    Bus,
    Tracking,
    TtlOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AbandonedName {
    Finish,
    Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = r#"all three of `origin_breaker = { failures = 5, window = "10s", pause = "30s" }`"#
)]
struct Breaker {
    failures: usize,
    window: Period,
    pause: Period,
}

impl Cache {
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(bytes) = self.local_bytes.filter(|bytes| *bytes < LEAST_BYTES) {
            return Err(format!(
                "`cache.local_bytes` is {bytes}; give at least {LEAST_BYTES} (64 KiB), or leave it out for 64 MiB"
            ));
        }
        if self.outage_concurrency == Some(0) {
            let why = "one load at least must run; leave it out for 64";
            return Err(format!("`cache.outage_concurrency` is 0; {why}"));
        }
        let mut spaces = self.spaces.iter();
        spaces.try_for_each(|(name, space)| {
            space.check().map_err(|why| format!("`cache.spaces.\"{name}\".{why}"))
        })
    }

    /// What is legal, and likely not what was meant.
    pub(super) fn doubts(&self) -> Vec<String> {
        let spaces = self.spaces.iter();
        let doubts = spaces.flat_map(|(name, space)| {
            space.doubts().into_iter().map(move |doubt| format!("`cache.spaces.\"{name}\".{doubt}"))
        });
        doubts.collect()
    }

    /// The declared space whose callers may wait longest, and how long.
    pub(super) fn longest_wait(&self) -> Option<(&str, Duration)> {
        let waits = self.spaces.iter().map(|(name, space)| (name.as_str(), space.longest_wait()));
        waits.max_by_key(|(_, wait)| *wait)
    }
}

impl Space {
    /// A space that nobody declared.
    pub(crate) fn undeclared(wait: Duration) -> Self {
        Self { wait: Some(Period(wait)), ..Self::default() }
    }

    /// How long an entry is fresh if its writer does not say.
    pub(crate) fn time_to_live(&self) -> Option<Duration> {
        self.time_to_live.map(|period| period.0)
    }

    /// How long an absence is remembered if its writer does not say.
    pub(crate) fn absent_for(&self) -> Option<Duration> {
        self.absent_for.map(|period| period.0)
    }

    /// Whether the life of an entry follows from how often it is read, if its writer does not give it.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.adaptive.is_some()
    }

    /// What is wrong with a setting, after the path of the space.
    fn check(&self) -> Result<(), String> {
        if self.is_adaptive() && self.time_to_live.is_none() {
            return Err("adaptive` needs a `time_to_live`, for what is put".to_owned());
        }
        refresh::check(self.refresh, self.beta, self.ahead)
    }

    /// What deserves a look, after the path of the space.
    fn doubts(&self) -> Vec<String> {
        let span = |period: Option<Period>| period.map_or(Duration::ZERO, |period| period.0);
        let (life, stale) = (span(self.time_to_live), span(self.stale_for));
        let hands_out = !matches!(self.refresh, None | Some(RefreshName::Never));
        let rules = [
            (life.is_zero(), "time_to_live` is left out: whoever writes must give `ttl_ms`"),
            (
                !hands_out && !stale.is_zero(),
                "stale_for` keeps values that nobody is given while the origin answers: set `refresh`",
            ),
            (
                !life.is_zero() && span(self.local_time_to_live) > life,
                "local_time_to_live` is above `time_to_live`, which ends it",
            ),
            (
                !life.is_zero() && span(self.absent_for) > life,
                "absent_for` is above `time_to_live`: what does not exist is remembered for longer than what does",
            ),
            (
                self.wait.is_some()
                    && self.load_timeout.is_some()
                    && span(self.wait) < span(self.load_timeout),
                "wait` is below `load_timeout`: whoever waits for a slow load goes away before it ends",
            ),
        ];
        rules.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt.to_owned()).collect()
    }

    fn longest_wait(&self) -> Duration {
        self.wait.or(self.load_timeout).map_or(WAIT, |period| period.0)
    }

    /// Hands the options to the library, which refuses those that contradict each other.
    pub(crate) fn apply(&self, builder: cache::Builder<Content>) -> cache::Builder<Content> {
        type Builder = cache::Builder<Content>;
        let builder = set(builder, self.version, Builder::version);
        let builder = set(builder, self.jitter, Builder::jitter);
        let builder = set(builder, self.stale_for, Builder::stale_for);
        let builder = set(builder, self.absent_for, Builder::absent_for);
        let builder = set(builder, self.local_time_to_live, Builder::local_time_to_live);
        let builder = set(builder, self.coherence, Builder::coherence);
        let policy = self.refresh.map(|name| name.policy(self.beta, self.ahead));
        let builder = set(builder, policy, Builder::refresh);
        let builder = set(builder, self.adaptive, |builder, bounds: Bounds| {
            builder.adaptive(bounds.min.0, bounds.max.0)
        });
        let builder = set(builder, self.load_timeout, Builder::load_timeout);
        let builder = set(builder, self.patience, Builder::patience);
        let builder = set(builder, self.lease, Builder::lease);
        let builder = set(builder, self.wait, Builder::wait);
        let builder = set(builder, self.origin_breaker, Builder::origin_breaker);
        let builder = set(builder, self.load_concurrency, Builder::load_concurrency);
        let builder = set(builder, self.failure_for, Builder::failure_for);
        let builder = set(builder, self.invalidate_again_after, Builder::invalidate_again_after);
        let builder = set(builder, self.abandoned, Builder::abandoned);
        let builder = set(builder, self.compress_above, Builder::compress_above);
        set(builder, self.max_bytes, Builder::max_bytes)
    }
}

fn set<B, F: Into<T>, T>(builder: B, option: Option<F>, setter: impl FnOnce(B, T) -> B) -> B {
    match option {
        Some(value) => setter(builder, value.into()),
        None => builder,
    }
}

impl From<Period> for Duration {
    fn from(period: Period) -> Self {
        period.0
    }
}

impl From<CoherenceName> for Coherence {
    fn from(name: CoherenceName) -> Self {
        match name {
            CoherenceName::Bus => Self::Bus,
            CoherenceName::Tracking => Self::Tracking,
            CoherenceName::TtlOnly => Self::TtlOnly,
        }
    }
}

impl From<AbandonedName> for Abandoned {
    fn from(name: AbandonedName) -> Self {
        match name {
            AbandonedName::Finish => Self::Finish,
            AbandonedName::Cancel => Self::Cancel,
        }
    }
}

impl From<Breaker> for OriginBreaker {
    fn from(Breaker { failures, window, pause }: Breaker) -> Self {
        Self { failures, window: window.0, pause: pause.0 }
    }
}

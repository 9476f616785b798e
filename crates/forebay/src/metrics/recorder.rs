//! From events to counters and histograms.

use std::sync::Arc;

use metrics::{Counter, Histogram};

use super::{
    names::{MOST, Names},
    series::Sink,
    table,
};
use crate::observe::{CommandOutcome, Event, LockOutcome, Part};

/// The most tiers of one policy; a policy may have been given others again and again.
const TIERS: usize = 64;

/// The names that are shown, of each kind of which not all are.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) spaces: Option<Vec<String>>,
    pub(super) topics: Option<Vec<String>>,
    pub(super) counters: Option<Vec<String>>,
}

/// The handles of everything that events raise.
pub(super) struct Recorder {
    pub(super) sink: Sink,
    spaces: Names<Space>,
    policies: Names<Policy>,
    counters: Names<Box<[Counter]>>,
    filters: Names<Box<[Counter]>>,
    topics: Names<Box<[Counter]>>,
    commands: Names<Histogram>,
    redis_errors: Box<[Counter]>,
    locks: Box<[Counter]>,
    locks_lost: Counter,
    begins: Box<[Counter]>,
    completions: Box<[Counter]>,
    claims: Box<[Counter]>,
}

/// Those of one space of a cache.
struct Space {
    /// Of process memory, then by outcome.
    requests: Box<[Counter]>,
    request_seconds: Box<[Histogram]>,
    loads: Box<[Counter]>,
    load_seconds: Histogram,
    fills: Box<[Counter]>,
    flight_callers: Histogram,
    cancelled_waits: Counter,
    changes: Box<[Counter]>,
    unreadable: Counter,
    breaker_opened: Counter,
}

/// Those of one policy of a limiter.
struct Policy {
    /// As it is shown.
    name: Box<str>,
    unreadable: Counter,
    tiers: Names<Box<[Counter]>>,
}

impl Space {
    fn new(sink: &Sink, space: &str) -> Self {
        let space = &[space][..];
        Self {
            requests: sink.counters(&table::CACHE_REQUESTS, space),
            request_seconds: sink.histograms(&table::CACHE_REQUEST_SECONDS, space),
            loads: sink.counters(&table::CACHE_LOADS, space),
            load_seconds: sink.histogram(&table::CACHE_LOAD_SECONDS, space),
            fills: sink.counters(&table::CACHE_FILLS, space),
            flight_callers: sink.histogram(&table::CACHE_FLIGHT_CALLERS, space),
            cancelled_waits: sink.counter(&table::CACHE_CANCELLED_WAITS, space),
            changes: sink.counters(&table::CACHE_CHANGES, space),
            unreadable: sink.counter(&table::CACHE_UNREADABLE, space),
            breaker_opened: sink.counter(&table::CACHE_BREAKER_OPENED, space),
        }
    }
}

impl Recorder {
    pub(super) fn new(sink: Sink, shown: &Shown) -> Self {
        sink.describe();
        let visitors = |name: &str| sink.counters(&table::VISITORS, &[name]);
        let messages = |name: &str| sink.counters(&table::TOPIC_MESSAGES, &[name]);
        Self {
            spaces: Names::of_those(shown.spaces.as_deref(), |name| Space::new(&sink, name)),
            policies: Names::up_to(MOST),
            counters: Names::of_those(shown.counters.as_deref(), visitors),
            filters: Names::up_to(MOST),
            topics: Names::of_those(shown.topics.as_deref(), messages),
            commands: Names::up_to(MOST),
            redis_errors: sink.counters(&table::REDIS_ERRORS, &[]),
            locks: sink.counters(&table::LOCK_REQUESTS, &[]),
            locks_lost: sink.counter(&table::LOCKS_LOST, &[]),
            begins: sink.counters(&table::IDEMPOTENCY_BEGINS, &[]),
            completions: sink.counters(&table::IDEMPOTENCY_COMPLETIONS, &[]),
            claims: sink.counters(&table::CLAIMS, &[]),
            sink,
        }
    }

    pub(super) fn record(&self, event: Event<'_>) {
        match event {
            Event::Built(part) => self.built(part),
            Event::Checked { policy, tier, outcome } => {
                self.tier(policy, tier)[outcome as usize].increment(1);
            }
            Event::UnreadableLimit { policy } => self.policy(policy).unreadable.increment(1),
            Event::Lock { outcome: LockOutcome::Lost } => self.locks_lost.increment(1),
            Event::Lock { outcome } => self.locks[outcome as usize].increment(1),
            Event::Visitors { counter, outcome, visitors } => {
                self.counter(counter)[outcome as usize].increment(visitors);
            }
            Event::Begun { outcome } => self.begins[outcome as usize].increment(1),
            Event::Completed { outcome } => self.completions[outcome as usize].increment(1),
            Event::Claimed { outcome } => self.claims[outcome as usize].increment(1),
            Event::Sifted { filter, outcome } => self.filter(filter)[outcome as usize].increment(1),
            Event::Topic { topic, outcome, messages } => {
                self.topic(topic)[outcome as usize].increment(messages.max(1));
            }
            Event::Command { command, outcome, took } => {
                if outcome != CommandOutcome::NotSent {
                    self.command(command).record(took);
                }
                if outcome != CommandOutcome::Answered {
                    self.redis_errors[outcome as usize - 1].increment(1);
                }
            }
            event => self.record_cache(event),
        }
    }

    fn record_cache(&self, event: Event<'_>) {
        match event {
            Event::Read { space, outcome, took } => {
                let space = self.space(space);
                space.requests[1 + outcome as usize].increment(1);
                space.request_seconds[outcome as usize].record(took);
            }
            Event::Load { space, outcome, took } => {
                let space = self.space(space);
                space.loads[outcome as usize].increment(1);
                if let Some(took) = took {
                    space.load_seconds.record(took);
                }
            }
            Event::Fill { space, outcome } => self.space(space).fills[outcome as usize].increment(1),
            Event::Flight { space, callers } => {
                let callers = u32::try_from(callers).unwrap_or(u32::MAX);
                self.space(space).flight_callers.record(callers);
            }
            Event::Changed { space, source } => self.space(space).changes[source as usize].increment(1),
            Event::Unreadable { space, .. } => self.space(space).unreadable.increment(1),
            Event::WaiterCancelled { space } => self.space(space).cancelled_waits.increment(1),
            Event::BreakerOpened { space, .. } => self.space(space).breaker_opened.increment(1),
            _ => {}
        }
    }

    /// Has the series there from the beginning: what grows from nothing has no rate.
    fn built(&self, part: Part<'_>) {
        match part {
            Part::Space(space) => drop(self.space(space)),
            Part::Tier { policy, tier } => drop(self.tier(policy, tier)),
            Part::Counter(counter) => drop(self.counter(counter)),
            Part::Filter(filter) => drop(self.filter(filter)),
        }
    }

    /// Counts hits in process memory.
    pub(super) fn hits(&self, space: &str, hits: u64) {
        self.space(space).requests[0].increment(hits);
    }

    fn space(&self, name: &str) -> Arc<Space> {
        self.spaces.of(name, |name| Space::new(&self.sink, name))
    }

    fn policy(&self, name: &str) -> Arc<Policy> {
        self.policies.of(name, |name| Policy {
            name: name.into(),
            unreadable: self.sink.counter(&table::LIMITER_UNREADABLE, &[name]),
            tiers: Names::up_to(TIERS),
        })
    }

    fn tier(&self, policy: &str, tier: &str) -> Arc<Box<[Counter]>> {
        let policy = self.policy(policy);
        policy.tiers.of(tier, |tier| self.sink.counters(&table::LIMITER_DECISIONS, &[&policy.name, tier]))
    }

    fn counter(&self, name: &str) -> Arc<Box<[Counter]>> {
        self.counters.of(name, |name| self.sink.counters(&table::VISITORS, &[name]))
    }

    fn filter(&self, name: &str) -> Arc<Box<[Counter]>> {
        self.filters.of(name, |name| self.sink.counters(&table::FILTER_CHECKS, &[name]))
    }

    fn topic(&self, name: &str) -> Arc<Box<[Counter]>> {
        self.topics.of(name, |name| self.sink.counters(&table::TOPIC_MESSAGES, &[name]))
    }

    fn command(&self, word: &str) -> Arc<Histogram> {
        self.commands.of(word, |word| self.sink.histogram(&table::REDIS_COMMAND_SECONDS, &[word]))
    }
}

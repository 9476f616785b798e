//! What is only read when it is asked for.

use std::collections::HashMap;

use metrics::{Counter, Gauge};

use super::{
    recorder::Recorder,
    series::Sink,
    table::{self, Metric},
};
use crate::{
    clock::time_of_day,
    forebay::{Figures, SpaceFigures},
    status::{RedisStatus, Status},
    sync::Mutex,
};

/// The handles of what is there at present.
pub(super) struct Levels {
    entries: Gauge,
    bytes: Gauge,
    limit_bytes: Gauge,
    locks_held: Gauge,
    locks_waiting: Gauge,
    redis: std::sync::OnceLock<Redis>,
    told: Told,
}

/// The hits in process memory that were told of, by space.
#[derive(Debug, Default)]
struct Told(Mutex<HashMap<String, u64>>);

impl Told {
    /// How many of `hits` are new. Who has read them before somebody else, and comes after him, adds none.
    fn newly(&self, space: &str, hits: u64) -> u64 {
        let mut told = self.0.lock();
        let before = told.entry(space.to_owned()).or_insert(0);
        let new = hits.saturating_sub(*before);
        *before += new;
        new
    }
}

/// Those that there are over Redis.
struct Redis {
    deferred: Gauge,
    deferred_age: Gauge,
    hears: Gauge,
    messages: Counter,
    lag: Gauge,
    gaps: Counter,
    bound: Gauge,
    processes: Gauge,
    usable: Gauge,
    in_flight: Gauge,
    breakers_open: Gauge,
}

impl Levels {
    pub(super) fn new(sink: &Sink) -> Self {
        let gauge = |metric: &Metric| sink.gauge(metric, &[]);
        sink.gauge(&table::BUILD_INFO, &[env!("CARGO_PKG_VERSION")]).set(1);
        gauge(&table::START_TIME_SECONDS).set(time_of_day());
        Self {
            entries: gauge(&table::CACHE_MEMORY_ENTRIES),
            bytes: gauge(&table::CACHE_MEMORY_BYTES),
            limit_bytes: gauge(&table::CACHE_MEMORY_LIMIT_BYTES),
            locks_held: gauge(&table::LOCKS_HELD),
            locks_waiting: gauge(&table::LOCKS_WAITING),
            redis: std::sync::OnceLock::new(),
            told: Told::default(),
        }
    }

    pub(super) fn publish(&self, figures: &Figures, recorder: &Recorder) {
        self.tell_hits(&figures.spaces, recorder);
        let memory = figures.memory;
        self.entries.set(count(memory.entries));
        self.bytes.set(count(memory.bytes));
        self.limit_bytes.set(count(memory.limit_bytes));
        self.locks_held.set(count(figures.locks_held as u64));
        self.locks_waiting.set(count(figures.locks_waiting as u64));
        if let Status::Redis(status) = &figures.status {
            self.redis.get_or_init(|| Redis::new(&recorder.sink)).publish(status);
        }
    }

    /// Adds what has come since the last time: several spaces may be shown as one.
    fn tell_hits(&self, spaces: &[SpaceFigures], recorder: &Recorder) {
        for SpaceFigures { space, stats } in spaces {
            recorder.hits(space, self.told.newly(space, stats.memory_hits));
        }
    }
}

impl Redis {
    fn new(sink: &Sink) -> Self {
        let gauge = |metric: &Metric| sink.gauge(metric, &[]);
        Self {
            deferred: gauge(&table::CACHE_DEFERRED_CHANGES),
            deferred_age: gauge(&table::CACHE_DEFERRED_AGE_SECONDS),
            hears: gauge(&table::BUS_HEARS),
            messages: sink.counter(&table::BUS_MESSAGES, &[]),
            lag: gauge(&table::BUS_LAG_SECONDS),
            gaps: sink.counter(&table::BUS_GAPS, &[]),
            bound: gauge(&table::BUS_STALENESS_BOUND_SECONDS),
            processes: gauge(&table::BUS_PROCESSES),
            usable: gauge(&table::REDIS_USABLE),
            in_flight: gauge(&table::REDIS_IN_FLIGHT),
            breakers_open: gauge(&table::REDIS_BREAKERS_OPEN),
        }
    }

    fn publish(&self, status: &RedisStatus) {
        self.deferred.set(count(status.deferred as u64));
        self.deferred_age.set(status.deferred_for);
        self.hears.set(u8::from(status.hears));
        self.messages.absolute(status.messages);
        self.lag.set(status.lag);
        self.gaps.absolute(status.gaps);
        self.bound.set(status.staleness_bound);
        self.processes.set(count(status.others as u64 + 1));
        self.usable.set(u8::from(status.usable));
        self.in_flight.set(count(status.in_flight as u64));
        self.breakers_open.set(count(status.nodes_down as u64));
    }
}

/// Exact up to 2^53, as far as any of these goes.
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_earlier_and_is_told_later_counts_once() {
        let told = Told::default();
        let new = [90, 150, 100, 160].map(|hits| told.newly("a", hits));
        assert_eq!(new, [90, 60, 0, 10]);
    }
}

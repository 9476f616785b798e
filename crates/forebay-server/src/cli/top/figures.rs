//! What a second has come to: the difference of two looks.

use std::time::Duration;

use serde::Serialize;

use super::samples::Samples;

/// How reads can be answered, in the order in which they are shown.
const OUTCOMES: [&str; 9] =
    ["memory", "store", "stale", "coalesced", "loaded", "absent", "filtered", "miss", "failed"];

/// Those in which no origin was asked.
const HITS: [&str; 6] = ["memory", "store", "stale", "coalesced", "absent", "filtered"];

/// How loads end that were begun.
const LOADS: [&str; 5] = ["value", "absent", "failed", "timed_out", "panicked"];

/// Decisions that refuse.
const REFUSALS: [&str; 2] = ["denied", "remembered"];

/// The figures of one second, and those of this moment.
#[derive(Debug, Default, Serialize)]
pub(super) struct Figures {
    pub(super) seconds: f64,
    /// Reads in a second, by what answered them.
    pub(super) reads: Vec<Rate>,
    pub(super) reads_per_s: f64,
    /// The share of reads for which no origin was asked; none where nothing was read.
    pub(super) hit_ratio: Option<f64>,
    pub(super) loads_per_s: f64,
    /// Reads that would each have been a load, less the loads, since the server began.
    pub(super) loads_saved: f64,
    /// Reads that process memory did not answer.
    pub(super) read_times: Times,
    pub(super) load_times: Times,
    pub(super) http_per_s: f64,
    pub(super) http_times: Times,
    /// Refused checks in a second, by policy and tier, the most of them first.
    pub(super) refusals: Vec<Rate>,
    pub(super) checks_per_s: f64,
    pub(super) redis: Redis,
    pub(super) bus: Bus,
    pub(super) locks: Locks,
    pub(super) memory: Memory,
}

#[derive(Debug, Serialize)]
pub(super) struct Rate {
    pub(super) name: String,
    pub(super) per_s: f64,
}

/// Percentiles of what was measured in that second; none where nothing was.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct Times {
    pub(super) p50_ms: Option<f64>,
    pub(super) p99_ms: Option<f64>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Redis {
    /// None for the memory store.
    pub(super) usable: Option<bool>,
    pub(super) commands_per_s: f64,
    pub(super) errors_per_s: f64,
    pub(super) times: Times,
    pub(super) in_flight: f64,
    pub(super) breakers_open: f64,
    pub(super) deferred_changes: f64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Bus {
    pub(super) hears: bool,
    pub(super) lag_ms: f64,
    pub(super) gaps: f64,
    pub(super) processes: f64,
    pub(super) staleness_bound_ms: f64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Locks {
    pub(super) waiting: f64,
    pub(super) lost: f64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Memory {
    pub(super) entries: f64,
    pub(super) bytes: f64,
    pub(super) limit_bytes: f64,
}

impl Figures {
    /// What has happened between two looks that are so far apart.
    pub(super) fn between(before: &Samples, now: &Samples, apart: Duration) -> Self {
        let seconds = apart.as_secs_f64().max(0.001);
        let span = Span { before, now, seconds };
        let reads: Vec<_> = OUTCOMES.iter().map(|outcome| span.reads(outcome)).collect();
        let reads_per_s = reads.iter().map(|rate| rate.per_s).sum();
        let hits: f64 = reads.iter().filter(|rate| HITS.contains(&&*rate.name)).map(|rate| rate.per_s).sum();
        let loads = |samples: &Samples| -> f64 {
            LOADS.iter().map(|end| samples.sum_where("forebay_cache_loads_total", "outcome", end)).sum()
        };
        Self {
            seconds,
            reads_per_s,
            hit_ratio: (reads_per_s > 0.0).then_some(hits / reads_per_s),
            loads_per_s: grown(loads(before), loads(now)) / seconds,
            loads_saved: (now.sum("forebay_cache_requests_total") - loads(now)).max(0.0),
            read_times: span.times("forebay_cache_request_duration_seconds"),
            load_times: span.times("forebay_cache_load_duration_seconds"),
            http_per_s: span.rate("forebay_http_requests_total"),
            http_times: span.times("forebay_http_request_duration_seconds"),
            refusals: span.refusals(),
            checks_per_s: span.rate("forebay_limiter_decisions_total"),
            redis: span.redis(),
            bus: bus(now),
            locks: Locks {
                waiting: now.sum("forebay_locks_waiting"),
                lost: now.sum("forebay_locks_lost_total"),
            },
            memory: Memory {
                entries: now.sum("forebay_cache_memory_entries"),
                bytes: now.sum("forebay_cache_memory_bytes"),
                limit_bytes: now.sum("forebay_cache_memory_limit_bytes"),
            },
            reads,
        }
    }
}

/// Two looks.
struct Span<'a> {
    before: &'a Samples,
    now: &'a Samples,
    seconds: f64,
}

impl Span<'_> {
    fn rate(&self, name: &str) -> f64 {
        grown(self.before.sum(name), self.now.sum(name)) / self.seconds
    }

    fn reads(&self, outcome: &str) -> Rate {
        let sum = |samples: &Samples| samples.sum_where("forebay_cache_requests_total", "outcome", outcome);
        Rate { name: outcome.to_owned(), per_s: grown(sum(self.before), sum(self.now)) / self.seconds }
    }

    fn refusals(&self) -> Vec<Rate> {
        let name = "forebay_limiter_decisions_total";
        let sums = |samples: &Samples| samples.sums_by(name, ["policy", "tier", "outcome"]);
        let before = sums(self.before);
        let mut rates: Vec<Rate> = Vec::new();
        for (labels, now) in sums(self.now).into_iter().filter(|([.., end], _)| REFUSALS.contains(&&**end)) {
            let per_s = grown(before.get(&labels).copied().unwrap_or(0.0), now) / self.seconds;
            let name = format!("{} {}", labels[0], labels[1]);
            match rates.iter_mut().find(|rate| rate.name == name) {
                Some(rate) => rate.per_s += per_s,
                None => rates.push(Rate { name, per_s }),
            }
        }
        rates.sort_by(|a, b| b.per_s.total_cmp(&a.per_s));
        rates
    }

    fn redis(&self) -> Redis {
        let commands = "forebay_redis_command_duration_seconds";
        let is_shared = !self.now.buckets(commands).is_empty();
        Redis {
            usable: is_shared.then(|| self.now.sum("forebay_redis_usable") > 0.0),
            commands_per_s: self.rate(&format!("{commands}_count")),
            errors_per_s: self.rate("forebay_redis_errors_total"),
            times: self.times(commands),
            in_flight: self.now.sum("forebay_redis_in_flight"),
            breakers_open: self.now.sum("forebay_redis_breakers_open"),
            deferred_changes: self.now.sum("forebay_cache_deferred_changes"),
        }
    }

    fn times(&self, name: &str) -> Times {
        let before = self.before.buckets(name);
        let earlier =
            |bound: f64| before.iter().find(|(known, _)| *known == bound).map_or(0.0, |(_, count)| *count);
        let buckets: Vec<_> = self
            .now
            .buckets(name)
            .into_iter()
            .map(|(bound, count)| (bound, grown(earlier(bound), count)))
            .collect();
        let [p50_ms, p99_ms] =
            [0.5, 0.99].map(|share| quantile(&buckets, share).map(|seconds| seconds * 1e3));
        Times { p50_ms, p99_ms }
    }
}

fn bus(now: &Samples) -> Bus {
    Bus {
        hears: now.sum("forebay_bus_hears") > 0.0,
        lag_ms: now.sum("forebay_bus_lag_seconds") * 1e3,
        gaps: now.sum("forebay_bus_gaps_total"),
        processes: now.sum("forebay_bus_processes"),
        staleness_bound_ms: now.sum("forebay_bus_staleness_bound_seconds") * 1e3,
    }
}

/// By how much a counter has grown. One that is smaller than it was began anew with its process.
fn grown(before: f64, now: f64) -> f64 {
    if now >= before { now - before } else { now }
}

/// The value that such a share of measurements does not exceed, within its bucket in proportion.
fn quantile(buckets: &[(f64, f64)], share: f64) -> Option<f64> {
    let all = buckets.last().map(|(_, count)| *count).filter(|count| *count > 0.0)?;
    let rank = all * share;
    let at = buckets.iter().position(|(_, count)| *count >= rank)?;
    let (lower, below) = if at == 0 { (0.0, 0.0) } else { buckets[at - 1] };
    let (upper, count) = buckets[at];
    // Beyond the last bound nothing is known but that.
    if upper.is_infinite() {
        return Some(lower);
    }
    Some(lower + (upper - lower) * (rank - below) / (count - below).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "forebay_cache_requests_total{outcome=\"memory\"} 10\n\
                          forebay_cache_requests_total{outcome=\"loaded\"} 2\n\
                          forebay_cache_loads_total{outcome=\"value\"} 2\n\
                          forebay_limiter_decisions_total{policy=\"api\",tier=\"free\",outcome=\"denied\"} 5\n\
                          forebay_http_request_duration_seconds_bucket{le=\"0.1\"} 0\n\
                          forebay_http_request_duration_seconds_bucket{le=\"+Inf\"} 0\n";
    const NOW: &str = "forebay_cache_requests_total{outcome=\"memory\"} 28\n\
                       forebay_cache_requests_total{outcome=\"loaded\"} 4\n\
                       forebay_cache_loads_total{outcome=\"value\"} 4\n\
                       forebay_limiter_decisions_total{policy=\"api\",tier=\"free\",outcome=\"denied\"} 6\n\
                       forebay_limiter_decisions_total{policy=\"api\",tier=\"free\",outcome=\"remembered\"} 3\n\
                       forebay_limiter_decisions_total{policy=\"api\",tier=\"free\",outcome=\"allowed\"} 9\n\
                       forebay_http_request_duration_seconds_bucket{le=\"0.1\"} 10\n\
                       forebay_http_request_duration_seconds_bucket{le=\"+Inf\"} 10\n";

    fn between(before: &str, now: &str) -> Figures {
        Figures::between(&Samples::read(before), &Samples::read(now), Duration::from_secs(2))
    }

    #[test]
    fn a_second_is_the_difference_of_two_looks() {
        let figures = between(BEFORE, NOW);
        assert_eq!((figures.reads_per_s, figures.hit_ratio, figures.loads_per_s), (10.0, Some(0.9), 1.0));
        assert_eq!(figures.loads_saved, 28.0);
        assert_eq!((figures.refusals[0].name.as_str(), figures.refusals[0].per_s), ("api free", 2.0));
        assert_eq!(figures.http_times.p50_ms, Some(50.0));
        assert_eq!(figures.redis.usable, None);
    }

    #[test]
    fn a_server_that_began_anew_has_no_negative_figures() {
        let figures = between(NOW, BEFORE);
        assert!(figures.reads_per_s >= 0.0 && figures.loads_per_s >= 0.0, "{figures:?}");
        assert_eq!(figures.http_times.p50_ms, None);
    }

    #[test]
    fn a_quantile_lies_within_its_bucket() {
        let buckets = [(0.1, 50.0), (0.2, 100.0), (f64::INFINITY, 100.0)];
        assert_eq!(quantile(&buckets, 0.5), Some(0.1));
        assert_eq!(quantile(&buckets, 0.99).map(|seconds| (seconds * 1e3).round()), Some(198.0));
        assert_eq!(quantile(&[(0.1, 0.0), (f64::INFINITY, 4.0)], 0.5), Some(0.1));
        assert_eq!(quantile(&[(0.1, 0.0)], 0.5), None);
    }
}

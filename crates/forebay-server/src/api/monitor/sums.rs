//! The figures of all servers together: those of one, or the sums over the primaries of a cluster.

use forebay::health::Figures;
use serde::Serialize;
use utoipa::ToSchema;

use super::words::{human, rounded};

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisMemory)]
pub(super) struct Memory {
    used_memory: Option<u64>,
    used_memory_human: Option<String>,
    used_memory_peak: Option<u64>,
    used_memory_peak_human: Option<String>,
    used_memory_rss: Option<u64>,
    maxmemory: Option<u64>,
    maxmemory_human: Option<String>,
    maxmemory_policy: Option<String>,
    /// Of the fullest server, in percent; null without a limit.
    used_percent: Option<f64>,
    /// Of the most fragmented server.
    mem_fragmentation_ratio: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisStats)]
pub(super) struct Stats {
    keyspace_hits: Option<u64>,
    keyspace_misses: Option<u64>,
    /// Of the last minute or two; null at first, and where nobody has read anything.
    hit_rate_percent: Option<f64>,
    total_commands_processed: Option<u64>,
    instantaneous_ops_per_sec: Option<u64>,
    expired_keys: Option<u64>,
    evicted_keys: Option<u64>,
    rejected_connections: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisClients)]
pub(super) struct Clients {
    connected_clients: Option<u64>,
    maxclients: Option<u64>,
    blocked_clients: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisReplication)]
pub(super) struct Replication {
    connected_replicas: Option<u64>,
    min_good_replicas: Option<u64>,
}

/// The sum of what is told; nothing where nobody tells.
fn sum(figures: &[&Figures], wanted: fn(&Figures) -> Option<u64>) -> Option<u64> {
    figures.iter().filter_map(|figures| wanted(figures)).reduce(|sum, one| sum + one)
}

fn most(figures: &[&Figures], wanted: fn(&Figures) -> Option<f64>) -> Option<f64> {
    figures.iter().filter_map(|figures| wanted(figures)).max_by(f64::total_cmp).map(|most| rounded(most, 2))
}

impl Memory {
    pub(super) fn of(figures: &[&Figures]) -> Self {
        let used = sum(figures, |figures| figures.memory.used);
        let peak = sum(figures, |figures| figures.memory.peak);
        let limit = sum(figures, |figures| figures.memory.limit);
        Self {
            used_memory: used,
            used_memory_human: used.map(human),
            used_memory_peak: peak,
            used_memory_peak_human: peak.map(human),
            used_memory_rss: sum(figures, |figures| figures.memory.resident),
            maxmemory: limit,
            maxmemory_human: limit.map(human),
            maxmemory_policy: figures.iter().find_map(|figures| figures.memory.policy.clone()),
            used_percent: most(figures, |figures| figures.memory.percent_used()),
            mem_fragmentation_ratio: most(figures, |figures| figures.memory.fragmentation),
        }
    }
}

impl Stats {
    pub(super) fn of(figures: &[&Figures], hit_rate: Option<f64>) -> Self {
        Self {
            keyspace_hits: sum(figures, |figures| figures.traffic.hits),
            keyspace_misses: sum(figures, |figures| figures.traffic.misses),
            hit_rate_percent: hit_rate.map(|rate| rounded(rate, 2)),
            total_commands_processed: sum(figures, |figures| figures.traffic.commands),
            instantaneous_ops_per_sec: sum(figures, |figures| figures.traffic.commands_per_second),
            expired_keys: sum(figures, |figures| figures.traffic.expired),
            evicted_keys: sum(figures, |figures| figures.traffic.evicted),
            rejected_connections: sum(figures, |figures| figures.traffic.rejected),
        }
    }
}

impl Clients {
    pub(super) fn of(figures: &[&Figures]) -> Self {
        Self {
            connected_clients: sum(figures, |figures| figures.clients.connected),
            maxclients: sum(figures, |figures| figures.clients.limit),
            blocked_clients: sum(figures, |figures| figures.clients.blocked),
        }
    }
}

impl Replication {
    pub(super) fn of(figures: &[&Figures]) -> Self {
        let good = figures.iter().filter_map(|figures| figures.replication.good_replicas);
        Self {
            connected_replicas: sum(figures, |figures| figures.replication.replicas),
            min_good_replicas: good.min(),
        }
    }
}

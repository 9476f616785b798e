//! How a `Forebay` stands with its store, as figures for an operator.

use std::time::Duration;

/// How a `Forebay` stands with its store; made by [`Forebay::status`](crate::Forebay::status).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Everything is kept in this process.
    Memory,
    /// Everything is shared through Redis.
    Redis(RedisStatus),
}

/// How a `Forebay` stands with Redis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RedisStatus {
    /// Whether every node can be asked.
    pub usable: bool,
    /// Why one of them cannot, or what one has refused lately; no part of the address or the credentials.
    pub reason: Option<String>,
    /// How many servers there are: one, or the primaries of a cluster that are known.
    pub nodes: usize,
    /// How many of them are left alone, as they have failed.
    pub nodes_down: usize,
    /// How long calls take.
    pub round_trips: RoundTrips,
    /// Commands sent and not answered yet.
    pub in_flight: usize,
    /// Whether this process hears the others' invalidations.
    pub hears: bool,
    /// How long it may serve from process memory what another process has invalidated, at most, while Redis
    /// can be asked.
    pub staleness_bound: Duration,
    /// How many other processes of the application are heard.
    pub others: usize,
    /// How often it may have missed an invalidation, and so has stopped trusting its memory.
    pub gaps: u64,
    /// How many messages of the bus it has heard, heartbeats and its own included.
    pub messages: u64,
    /// How long its own heartbeat takes to come back; while one is waited for, at least since when.
    pub lag: Duration,
    /// Whether every node that can be read tells of all writes, where a cache has
    /// [`Coherence::Tracking`](crate::cache::Coherence::Tracking). While one that was asked has not answered, such caches
    /// keep nothing in memory; where one has refused, they hear by the bus alone.
    pub tracks: Option<bool>,
    /// How many changes Redis has not confirmed.
    pub deferred: usize,
    /// For how long the oldest of them has been waiting.
    pub deferred_for: Duration,
}

/// How long calls have taken in the last half to whole minute, those that were not answered in time included; at most an
/// eighth too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RoundTrips {
    /// How many there were.
    pub count: u64,
    /// What half of them did not exceed.
    pub p50: Option<Duration>,
    /// What 95 of 100 did not exceed.
    pub p95: Option<Duration>,
    /// What 99 of 100 did not exceed.
    pub p99: Option<Duration>,
}

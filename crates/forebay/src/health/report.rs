//! How a store is, as a whole.

use std::time::Duration;

use super::{Advice, Figures, Ratings, Sample};
use crate::{heavy::Sighting, status::RoundTrips};

/// How the store of a `Forebay` is; made by [`Forebay::health`](crate::Forebay::health).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Health {
    /// Everything is kept in this process, and nothing can be wrong with it.
    Memory,
    /// What Redis tells of itself.
    Redis(Box<RedisHealth>),
}

/// What Redis tells of itself, and what that means.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RedisHealth {
    /// Whether every node can be asked.
    pub usable: bool,
    /// Why one of them cannot.
    pub reason: Option<String>,
    /// One server, or every primary that is known of a cluster.
    pub servers: Vec<Server>,
    /// How many of the keys that were read in the last minute or two were there, in percent, whoever read them; nothing
    /// when this was not asked for in that time, or nobody has read any.
    pub hit_rate: Option<f64>,
    /// How long calls of this process take.
    pub round_trips: RoundTrips,
    /// The latest of [`Forebay::sample_keys`](crate::Forebay::sample_keys).
    pub sample: Option<Sample>,
    /// How good the figures are.
    pub ratings: Ratings,
    /// What to do, the most pressing first.
    pub advice: Vec<Advice>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Server {
    /// Its name among the others: `redis`, or host and port of a node of a cluster.
    pub node: String,
    /// Why there are no figures, or why it cannot be used.
    pub trouble: Option<String>,
    /// What it tells of itself, or told when it could last be asked.
    pub figures: Option<Figures>,
    /// How old the figures are.
    pub age: Duration,
}

/// An id that is read much. Its counts are taken from a sample, and of what was a minute ago half is left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HotKey {
    /// The space of the cache.
    pub space: String,
    /// The id, in its [encoded](crate::key::encode) form.
    pub id: String,
    /// How often it was read lately, whatever the answer.
    pub reads: u64,
    /// By how much that may be too many, besides the chance of the sample.
    pub error: u64,
}

/// A subject that is refused much, counted likewise.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedSubject {
    /// The name of the policy.
    pub policy: String,
    /// What tells it from others for as long as this process runs, and nothing else of it: 12 hexadecimal digits.
    pub mark: String,
    /// How often it was refused lately.
    pub refusals: u64,
    /// By how much that may be too many.
    pub error: u64,
}

impl From<Sighting> for HotKey {
    fn from(sighting: Sighting) -> Self {
        let Sighting { group, name, times, error } = sighting;
        Self { space: group.as_str().to_owned(), id: name.into(), reads: times, error }
    }
}

impl From<Sighting> for RefusedSubject {
    fn from(sighting: Sighting) -> Self {
        let Sighting { group, name, times, error } = sighting;
        Self { policy: group.as_str().to_owned(), mark: name.into(), refusals: times, error }
    }
}

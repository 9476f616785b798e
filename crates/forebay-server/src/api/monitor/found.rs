//! What was found, and what it means.

use forebay::health::{Advice, BigKey, Ratings, Sample, Server};
use serde::Serialize;
use utoipa::ToSchema;

use super::words::rating;
use crate::api::answer::millis;

/// What was found among some of the keys.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisKeys)]
pub(super) struct Keys {
    looked_at: usize,
    complete: bool,
    without_expiry: Vec<String>,
    biggest: Vec<Big>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BigKey)]
struct Big {
    key: String,
    bytes: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisRatings)]
pub(super) struct Rated {
    hit_rate: Option<&'static str>,
    fragmentation: Option<&'static str>,
    connections: Option<&'static str>,
    memory: Option<&'static str>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisAdvice)]
pub(super) struct Advised {
    name: &'static str,
    text: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RedisNode)]
pub(super) struct Node {
    node: String,
    trouble: Option<String>,
    age_ms: u64,
    version: Option<String>,
    used_memory: Option<u64>,
    connected_clients: Option<u64>,
}

impl Keys {
    pub(super) fn of(sample: Sample) -> Self {
        let big = |BigKey { key, bytes, .. }| Big { key, bytes };
        Self {
            looked_at: sample.looked_at,
            complete: sample.complete,
            without_expiry: sample.permanent,
            biggest: sample.biggest.into_iter().map(big).collect(),
        }
    }
}

impl Rated {
    pub(super) fn of(ratings: Ratings) -> Self {
        Self {
            hit_rate: ratings.hit_rate.map(rating),
            fragmentation: ratings.fragmentation.map(rating),
            connections: ratings.connections.map(rating),
            memory: ratings.memory.map(rating),
        }
    }
}

impl Advised {
    pub(super) fn of(advice: &Advice) -> Self {
        Self { name: advice.name(), text: advice.to_string() }
    }
}

impl Node {
    pub(super) fn of(server: &Server) -> Self {
        let figures = server.figures.as_ref();
        Self {
            node: server.node.clone(),
            trouble: server.trouble.clone(),
            age_ms: millis(server.age),
            version: figures.map(|figures| figures.version.clone()),
            used_memory: figures.and_then(|figures| figures.memory.used),
            connected_clients: figures.and_then(|figures| figures.clients.connected),
        }
    }
}

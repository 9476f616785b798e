//! What operators see: visitors by the day, whose limits are in use, and how Redis and the caches are.

use axum::{Json, Router, extract::State, middleware::from_extractor, routing::get};
use forebay::{
    SpaceFigures,
    health::{Health, RedisHealth, Server},
    limiter::Count,
    unique,
};
use serde::Serialize;

use crate::{callers::Operator, problem::Problem, service::Coach};

pub(crate) fn router() -> Router<Coach> {
    Router::new()
        .route("/analytics/uv/today", get(today))
        .route("/analytics/uv/weekly", get(weekly))
        .route("/rate-limit/stats", get(limits))
        .route("/redis-monitor/stats", get(monitor))
        .route_layer(from_extractor::<Operator>())
}

#[derive(Serialize)]
struct Visitors {
    visitors: u64,
    from: String,
    to: String,
}

impl From<unique::Count> for Visitors {
    fn from(count: unique::Count) -> Self {
        Self { visitors: count.visitors, from: count.from.to_string(), to: count.to.to_string() }
    }
}

async fn today(State(coach): State<Coach>) -> Result<Json<Visitors>, Problem> {
    Ok(Json(coach.visitors.today().await?.into()))
}

async fn weekly(State(coach): State<Coach>) -> Result<Json<Visitors>, Problem> {
    Ok(Json(coach.visitors.count_days(7).await?.into()))
}

#[derive(Serialize)]
struct Limits {
    stats: Vec<Limit>,
    total_keys: usize,
}

/// What one caller has used of one policy, in its fullest window.
#[derive(Serialize)]
struct Limit {
    policy: String,
    subject: String,
    used: Option<u64>,
}

impl From<Count> for Limit {
    fn from(count: Count) -> Self {
        Self { used: count.used(), policy: count.policy, subject: count.subject }
    }
}

async fn limits(State(coach): State<Coach>) -> Result<Json<Limits>, Problem> {
    let listing = coach.forebay.limits().await?;
    let stats = listing.counts.into_iter().map(Limit::from).collect();
    Ok(Json(Limits { stats, total_keys: listing.total }))
}

#[derive(Serialize)]
struct Monitor {
    caches: Vec<Space>,
    /// Missing where everything is kept in this process.
    redis: Option<Redis>,
}

/// What one cache has done in this process.
#[derive(Serialize)]
struct Space {
    space: String,
    memory_hits: u64,
    store_hits: u64,
    stale_hits: u64,
    coalesced: u64,
    loads: u64,
    filtered: u64,
}

#[derive(Serialize)]
struct Redis {
    usable: bool,
    reason: Option<String>,
    /// How many reads of keys found one, in percent.
    hit_rate: Option<f64>,
    round_trip_p99_us: Option<u128>,
    servers: Vec<Node>,
    /// What to do, the most pressing first.
    advice: Vec<String>,
}

#[derive(Serialize)]
struct Node {
    version: Option<String>,
    memory_bytes: Option<u64>,
    memory_limit_bytes: Option<u64>,
    clients: Option<u64>,
    commands_per_second: Option<u64>,
}

async fn monitor(State(coach): State<Coach>) -> Json<Monitor> {
    let redis = match coach.forebay.health().await {
        Health::Redis(health) => Some(Redis::from(*health)),
        _ => None,
    };
    let caches = coach.forebay.figures().spaces.into_iter().map(Space::from).collect();
    Json(Monitor { caches, redis })
}

impl From<SpaceFigures> for Space {
    fn from(SpaceFigures { space, stats, .. }: SpaceFigures) -> Self {
        Self {
            space,
            memory_hits: stats.memory_hits,
            store_hits: stats.store_hits,
            stale_hits: stats.stale_hits,
            coalesced: stats.coalesced,
            loads: stats.loads,
            filtered: stats.filtered,
        }
    }
}

impl From<RedisHealth> for Redis {
    fn from(health: RedisHealth) -> Self {
        Self {
            usable: health.usable,
            reason: health.reason,
            hit_rate: health.hit_rate,
            round_trip_p99_us: health.round_trips.p99.map(|span| span.as_micros()),
            servers: health.servers.into_iter().map(Node::from).collect(),
            advice: health.advice.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<Server> for Node {
    fn from(server: Server) -> Self {
        let figures = server.figures.unwrap_or_default();
        Self {
            version: (!figures.version.is_empty()).then_some(figures.version),
            memory_bytes: figures.memory.used,
            memory_limit_bytes: figures.memory.limit,
            clients: figures.clients.connected,
            commands_per_second: figures.traffic.commands_per_second,
        }
    }
}

//! `/redis-monitor/stats`: what Redis tells of itself, rated, with what to do about it.

mod found;
mod state;
mod sums;
mod words;

use axum::{extract::State, http::Uri, response::Response};
use forebay::{
    health::{Figures, Health, HotKey, RedisHealth, RefusedSubject},
    status::Status,
};
use serde::Serialize;
use utoipa::ToSchema;

pub(super) use self::state::ahead;
use self::{
    found::{Advised, Keys, Node, Rated},
    state::{About, Breaker, Clock, Persistence, RoundTrip},
    sums::{Clients, Memory, Replication, Stats},
};
use super::answer::{self, millis};
use crate::{
    app::{App, Shared},
    error::Problem,
    extract::Query,
};

/// The whole answer. On the memory store nothing is told of Redis.
#[derive(Debug, Serialize, ToSchema)]
struct Monitor {
    store: &'static str,
    /// What this server has read most lately.
    hot_keys: Vec<Hot>,
    /// Whom it has refused most lately, by marks that tell nothing else of them.
    most_refused: Vec<Refused>,
    #[serde(flatten)]
    redis: Option<Redis>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Redis {
    /// Whether Redis can be asked now; if it cannot, the figures are those of when it last could.
    usable: bool,
    reason: Option<String>,
    /// How old the oldest figures are.
    age_ms: u64,
    server: About,
    memory: Memory,
    stats: Stats,
    clients: Clients,
    replication: Replication,
    persistence: Persistence,
    clock: Option<Clock>,
    round_trip: RoundTrip,
    breaker: Breaker,
    keys: Option<Keys>,
    ratings: Rated,
    advice: Vec<Advised>,
    /// One for each primary of a cluster.
    servers: Vec<Node>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HotKey)]
struct Hot {
    space: String,
    id: String,
    reads: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RefusedSubject)]
struct Refused {
    policy: String,
    subject: String,
    refusals: u64,
}

/// Answers what Redis tells of itself.
#[utoipa::path(
    get, path = "/redis-monitor/stats", tag = "figures",
    responses(
        (status = 200, description = "On the memory store, nothing of Redis", body = Monitor),
    ),
)]
pub(crate) async fn stats(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(answer::json(&monitor(&app).await))
}

/// The whole answer.
pub(crate) async fn monitor(app: &App) -> impl Serialize + use<> {
    let redis = match app.forebay.health().await {
        Health::Redis(health) => Some(Redis::of(*health, &app.forebay.status())),
        _ => None,
    };
    let store = if redis.is_some() { "redis" } else { "memory" };
    let hot_keys = app.forebay.hot_keys().into_iter().map(Hot::from).collect();
    let most_refused = app.forebay.most_refused().into_iter().map(Refused::from).collect();
    Monitor { store, hot_keys, most_refused, redis }
}

impl From<HotKey> for Hot {
    fn from(hot: HotKey) -> Self {
        Self { space: hot.space, id: hot.id, reads: hot.reads }
    }
}

impl From<RefusedSubject> for Refused {
    fn from(refused: RefusedSubject) -> Self {
        Self { policy: refused.policy, subject: refused.mark, refusals: refused.refusals }
    }
}

impl Redis {
    fn of(health: RedisHealth, status: &Status) -> Self {
        let figures: Vec<&Figures> =
            health.servers.iter().filter_map(|server| server.figures.as_ref()).collect();
        Self {
            usable: health.usable,
            reason: health.reason.clone(),
            age_ms: millis(health.servers.iter().map(|server| server.age).max().unwrap_or_default()),
            server: About::of(&figures),
            memory: Memory::of(&figures),
            stats: Stats::of(&figures, health.hit_rate),
            clients: Clients::of(&figures),
            replication: Replication::of(&figures),
            persistence: Persistence::of(&figures),
            clock: figures
                .iter()
                .filter_map(|figures| figures.clock)
                .max_by_key(|clock| clock.by)
                .map(Clock::of),
            round_trip: RoundTrip::of(&health.round_trips),
            breaker: Breaker::of(status),
            keys: health.sample.map(Keys::of),
            ratings: Rated::of(health.ratings),
            advice: health.advice.iter().map(Advised::of).collect(),
            servers: health.servers.iter().map(Node::of).collect(),
        }
    }
}

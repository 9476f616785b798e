//! Figures for the dashboard, and for people.

use axum::{extract::State, http::Uri, response::Response};
use forebay::limiter::{Count, Listing};
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::{self, millis};
use crate::{
    app::Shared,
    error::{Kind, Problem},
    extract::Query,
};

/// Whose limits are in use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LimitsInUse)]
struct Limits {
    stats: Vec<Stat>,
    total_keys: usize,
    truncated: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LimitInUse)]
struct Stat {
    key: String,
    policy: String,
    subject: String,
    /// That of the fullest window; null for a policy that this server does not have.
    current_count: Option<u64>,
    windows: Vec<Window>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WindowInUse)]
struct Window {
    window_ms: u64,
    current_count: u64,
}

/// Answers whose limits are in use.
#[utoipa::path(
    get, path = "/rate-limit/stats", tag = "figures",
    responses(
        (status = 200, description = "At most 100 keys", body = Limits),
    ),
    extensions(("x-problems" = json!([Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn limits(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let Listing { counts, total, truncated, .. } = app.forebay.limits().await?;
    let stats = counts.into_iter().map(Stat::from).collect();
    Ok(answer::json(&Limits { stats, total_keys: total, truncated }))
}

impl From<Count> for Stat {
    fn from(count: Count) -> Self {
        let windows = count.windows.iter().flatten();
        Self {
            current_count: count.used(),
            windows: windows
                .map(|window| Window { window_ms: millis(window.window), current_count: window.used })
                .collect(),
            key: count.key,
            policy: count.policy,
            subject: count.subject,
        }
    }
}

//! Figures for the dashboard, and for people.

use axum::{extract::State, http::Uri, response::Response};
use forebay::limiter::{Count, Listing};
use serde::Serialize;

use super::answer::{self, millis};
use crate::{app::Shared, error::Problem, extract::Query};

/// Whose limits are in use.
#[derive(Debug, Serialize)]
struct Limits {
    stats: Vec<Stat>,
    total_keys: usize,
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct Stat {
    key: String,
    policy: String,
    subject: String,
    /// That of the fullest window; null for a policy that this server does not have.
    current_count: Option<u64>,
    windows: Vec<Window>,
}

#[derive(Debug, Serialize)]
struct Window {
    window_ms: u64,
    current_count: u64,
}

/// Answers whose limits are in use.
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

//! `/analytics/uv/today`, `/analytics/uv/weekly`: visitors for the dashboard, and for people.

use axum::{extract::State, http::Uri, response::Response};
use serde::Serialize;

use super::answer;
use crate::{
    app::{App, Shared},
    counters::{Counter, SITE},
    error::Problem,
    extract::Query,
};

const WEEK: u32 = 7;

#[derive(Debug, Serialize)]
struct Today {
    uv: u64,
    date: String,
}

#[derive(Debug, Serialize)]
struct Weekly {
    uv: u64,
    from: String,
    to: String,
}

/// Answers how many came today.
pub(crate) async fn today(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let Counter { unique, .. } = asked(&app, &uri)?;
    let count = unique.today().await?;
    Ok(answer::json(&Today { uv: count.visitors, date: count.to.to_string() }))
}

/// Answers how many came on the last seven days, of which today is one.
pub(crate) async fn weekly(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let Counter { unique, .. } = asked(&app, &uri)?;
    let count = unique.count_days(WEEK).await?;
    Ok(answer::json(&Weekly { uv: count.visitors, from: count.from.to_string(), to: count.to.to_string() }))
}

fn asked(app: &App, uri: &Uri) -> Result<Counter, Problem> {
    app.counters.find(Query::read(uri, &["counter"])?.text("counter").unwrap_or(SITE))
}

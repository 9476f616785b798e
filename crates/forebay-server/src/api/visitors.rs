//! `/analytics/uv/today`, `/analytics/uv/weekly`: visitors for the dashboard, and for people.

use axum::{extract::State, http::Uri, response::Response};
use forebay::unique::Reader;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer;
use crate::{
    app::{App, Shared},
    counters::SITE,
    error::{Kind, Problem},
    extract::Query,
};

const WEEK: u32 = 7;

#[derive(Debug, Serialize, ToSchema)]
struct Today {
    uv: u64,
    date: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct Weekly {
    uv: u64,
    from: String,
    to: String,
}

/// Answers how many came today.
#[utoipa::path(
    get, path = "/analytics/uv/today", tag = "visitors",
    params(
        ("counter" = Option<String>, Query, nullable = false, description = "The counter; `site` if left out", min_length = 1, max_length = 64, pattern = "^[a-z0-9._:-]+$"),
    ),
    responses(
        (status = 200, description = "Of today", body = Today),
    ),
    extensions(("x-problems" = json!([Kind::InvalidCounter, Kind::TooManyCounters, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn today(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let count = asked(&app, &uri)?.today().await?;
    Ok(answer::json(&Today { uv: count.visitors, date: count.to.to_string() }))
}

/// Answers how many came on the last seven days, of which today is one: on those of them that are kept.
#[utoipa::path(
    get, path = "/analytics/uv/weekly", tag = "visitors",
    params(
        ("counter" = Option<String>, Query, nullable = false, description = "The counter; `site` if left out", min_length = 1, max_length = 64, pattern = "^[a-z0-9._:-]+$"),
    ),
    responses(
        (status = 200, description = "Of a week", body = Weekly),
    ),
    extensions(("x-problems" = json!([Kind::InvalidCounter, Kind::TooManyCounters, Kind::RedisUnavailable, Kind::ForeignKey]))),
)]
pub(crate) async fn weekly(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let counter = asked(&app, &uri)?;
    let count = counter.count_days(WEEK.min(counter.keep_days())).await?;
    Ok(answer::json(&Weekly { uv: count.visitors, from: count.from.to_string(), to: count.to.to_string() }))
}

fn asked(app: &App, uri: &Uri) -> Result<Reader, Problem> {
    app.counters.read(Query::read(uri, &["counter"])?.text("counter").unwrap_or(SITE))
}

//! `/analytics/uv/today`, `/analytics/uv/weekly`: visitors for the dashboard, and for people.

use axum::{extract::State, http::Uri, response::Response};
use serde_json::json;

use super::answer;
use crate::{
    app::{App, Shared},
    counters::{Counter, SITE},
    error::{Kind, Problem},
    extract::Query,
};

const WEEK: u32 = 7;

/// Answers how many came today.
pub(crate) async fn today(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let Counter { unique, .. } = asked(&app, &uri)?;
    let count = unique.today().await?;
    Ok(answer::json(&json!({ "uv": count.visitors, "date": count.to.to_string() })))
}

/// Answers how many came on the last seven days, of which today is one.
pub(crate) async fn weekly(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let Counter { unique, .. } = asked(&app, &uri)?;
    if unique.keep_days() < WEEK {
        let detail = format!(
            "the counter `{}` keeps {} days; raise its `keep_days` to count a week",
            unique.counter(),
            unique.keep_days()
        );
        return Err(Problem::new(Kind::InvalidQuery, detail));
    }
    let count = unique.count_days(WEEK).await?;
    let (from, to) = (count.from.to_string(), count.to.to_string());
    Ok(answer::json(&json!({ "uv": count.visitors, "from": from, "to": to })))
}

fn asked(app: &App, uri: &Uri) -> Result<Counter, Problem> {
    app.counters.find(Query::read(uri, &["counter"])?.text("counter").unwrap_or(SITE))
}

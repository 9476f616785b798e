//! How many come: each user, or address, once a day and once a week.

use axum::{Json, Router, extract::State, routing::get};
use forebay::unique::Unique;
use serde::Serialize;

use crate::problem::Problem;

pub(crate) fn router(visitors: Unique) -> Router {
    Router::new().route("/visitors", get(count)).with_state(visitors)
}

#[derive(Serialize)]
struct Visitors {
    today: u64,
    week: u64,
}

async fn count(State(visitors): State<Unique>) -> Result<Json<Visitors>, Problem> {
    let (today, week) = (visitors.today().await?, visitors.count_days(7).await?);
    Ok(Json(Visitors { today: today.visitors, week: week.visitors }))
}

//! `GET /dashboard/history`: the last hour, for a page that has just been opened.

use axum::{extract::State, http::Uri, response::Response};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::{
    columns::COLUMNS,
    history::{History, Row},
    lock,
};
use crate::{api::answer, app::Shared, error::Problem, extract::Query};

/// The last hour.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = History)]
struct Past<'a> {
    /// What the cells of a row are, behind its time.
    columns: Vec<&'static str>,
    #[serde(serialize_with = "rows")]
    #[schema(value_type = Vec<Vec<Option<f64>>>)]
    rows: &'a History,
}

fn rows<S: Serializer>(history: &History, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(history.rows().map(|row: &Row| row))
}

/// Answers the last hour, oldest first.
#[utoipa::path(
    get, path = "/dashboard/history", tag = "figures",
    responses(
        (status = 200, description = "Oldest first; a row has its time, and a cell for each column", body = Past),
    ),
)]
pub(crate) async fn past(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    let columns = COLUMNS.iter().map(|column| column.name.as_str()).collect();
    let history = lock(&app.dashboard.history);
    Ok(answer::json(&Past { columns, rows: &history }))
}

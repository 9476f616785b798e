//! `/livez`, `/readyz`: whether the process runs, and whether it should be sent requests.

use axum::{
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{answer, readiness::Report};
use crate::{app::Shared, error::Problem, extract::Query};

/// That there is an answer.
#[derive(Debug, Serialize, ToSchema)]
struct Alive {
    status: &'static str,
}

/// Answers as long as anything does.
#[utoipa::path(
    get, path = "/livez", tag = "health",
    responses(
        (status = 200, description = "It runs", body = Alive),
    ),
)]
pub(crate) async fn alive(uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(answer::json(&Alive { status: "alive" }))
}

/// Answers 503 as soon as a shutdown begins, and otherwise what keeps it from serving well. With `?verbose`
/// it adds the figures of each component.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    params(
        ("verbose" = Option<u64>, Query, nullable = false, description = "1: with the figures of each component", minimum = 1, maximum = 1),
    ),
    responses(
        (status = 200, description = "It serves, well or degraded", body = Report),
        (status = 503, description = "It is being shut down.", body = Report),
    ),
)]
pub(crate) async fn ready(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let verbose = uri.query() == Some("verbose") || Query::read(&uri, &["verbose"])?.flag("verbose")?;
    let report = Report::of(&app.forebay.status(), app.draining.is_cancelled());
    let report = if verbose { report.with(&app.forebay.health().await) } else { report.in_short() };
    Ok((report.code(), answer::json(&json!(report))).into_response())
}

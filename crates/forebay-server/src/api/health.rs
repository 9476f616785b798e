//! `/livez`, `/readyz`: whether the process runs, and whether it should be sent requests.

use axum::{
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::{answer, readiness::Report};
use crate::{app::Shared, error::Problem, extract::Query};

/// Answers as long as anything does.
pub(crate) async fn alive(uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(answer::json(&json!({ "status": "alive" })))
}

/// Answers 503 as soon as a shutdown begins, and otherwise what keeps it from serving well. With `?verbose`
/// it adds the figures of each component.
pub(crate) async fn ready(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let verbose = uri.query() == Some("verbose") || Query::read(&uri, &["verbose"])?.flag("verbose")?;
    let report = Report::of(&app.forebay.status(), app.draining.is_cancelled());
    let report = if verbose { report } else { report.in_short() };
    Ok((report.code(), answer::json(&json!(report))).into_response())
}

//! `/livez`, `/readyz`: whether the process runs, and whether it should be sent requests.

use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::answer;
use crate::{app::Shared, error::Problem, extract::Query};

/// Answers as long as anything does.
pub(crate) async fn alive(uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(answer::json(&json!({ "status": "alive" })))
}

/// Answers 503 as soon as a shutdown begins. With `?verbose` it lists how each component is.
pub(crate) async fn ready(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    let verbose = uri.query() == Some("verbose") || Query::read(&uri, &["verbose"])?.flag("verbose")?;
    let (code, status) = if app.draining.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "down")
    } else {
        (StatusCode::OK, "ready")
    };
    let mut members = json!({ "status": status });
    if verbose {
        members["components"] = json!({
            "server": { "status": status },
            "store": { "status": "ready", "kind": "memory" },
        });
    }
    Ok((code, answer::json(&members)).into_response())
}

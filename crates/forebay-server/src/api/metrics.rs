//! The figures, for whoever collects them.

use axum::{
    extract::State,
    http::{Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};

use crate::{app::Shared, error::Problem, extract::Query};

/// The text format of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers all figures.
#[utoipa::path(
    get, path = "/metrics", tag = "figures",
    responses(
        (status = 200, description = "The text format of Prometheus", content((String = "text/plain; version=0.0.4; charset=utf-8"))),
    ),
)]
pub(crate) async fn text(State(app): State<Shared>, uri: Uri) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(([(CONTENT_TYPE, TEXT)], app.metrics()).into_response())
}

//! What is counted of each request: its route and never its path, which holds ids.

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use tokio::time::Instant;

use crate::app::Shared;

/// Counts the answer, and how long it took to begin.
#[expect(clippy::disallowed_methods, reason = "what is measured here decides nothing")]
pub(crate) async fn figures(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, route) = (request.method().clone(), request.extensions().get::<MatchedPath>().cloned());
    let response = next.run(request).await;
    let route = route.as_ref().map(MatchedPath::as_str);
    app.metrics.answered(route, &method, response.status(), began.elapsed());
    response
}

//! Paths, taken apart once for everything further in.

use axum::{extract::Request, middleware::Next, response::Response};

use crate::{error::Problem, extract::Segments};

/// Refuses a path that cannot be read, on unknown routes too, and hands on its segments.
pub(crate) async fn paths(mut request: Request, next: Next) -> Result<Response, Problem> {
    let segments = Segments::read(request.uri().path())?;
    request.extensions_mut().insert(segments);
    Ok(next.run(request).await)
}

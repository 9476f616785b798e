//! How a request appears in the log.

use axum::extract::{MatchedPath, Request};
use tracing::Span;

use super::RequestId;

/// Makes the span of a request, without its path: ids belong in no log.
pub(crate) fn span(request: &Request) -> Span {
    let extensions = request.extensions();
    tracing::info_span!(
        "request",
        id = extensions.get::<RequestId>().map(RequestId::as_str),
        method = request.method().as_str(),
        route = extensions.get::<MatchedPath>().map(MatchedPath::as_str),
    )
}

//! The bodies of refusals, in one form for all of them.

use axum::{
    extract::{Extension, Request},
    http::{HeaderValue, StatusCode, header::CACHE_CONTROL},
    middleware::Next,
    response::Response,
};

use super::RequestId;
use crate::error::{Kind, Problem};

/// Writes the problem that a response carries. No answer of this server may be kept by another
/// cache, unless it says so itself.
pub(crate) async fn problems(Extension(id): Extension<RequestId>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    match response.extensions_mut().remove::<Problem>().or_else(|| of_router(&response)) {
        Some(problem) => problem.write(response, id.as_str()),
        None => response,
    }
}

/// The one refusal that is not ours: the router's for a method that its route does not take.
fn of_router(response: &Response) -> Option<Problem> {
    // The router adds the header only after this, so that the detail can but point to it.
    let detail = "the path does not take this method; the header `Allow` names those that it takes";
    (response.status() == StatusCode::METHOD_NOT_ALLOWED)
        .then(|| Problem::new(Kind::MethodNotAllowed, detail))
}

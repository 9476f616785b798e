//! The routes: who is asking is found out in front of all of them.

use axum::{
    Router,
    http::{Method, Uri},
    routing::get,
};
use forebay::http::{Addresses, CallerLayer};

use crate::{keys, problem::Problem};

/// Puts the parts of the service together.
pub(crate) fn router(parts: [Router; 3]) -> Router {
    parts
        .into_iter()
        .fold(Router::new(), Router::merge)
        .fallback(async |method: Method, uri: Uri| Problem::no_route(&method, &uri))
        .layer(CallerLayer::new(Addresses::new()).lookup(keys::identity))
        .route("/livez", get(async || "ok\n"))
}

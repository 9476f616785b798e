//! The routes: in front of all of them it is found out who is asking, and recorded as a visitor.

use anyhow::Result;
use axum::{
    Router,
    http::{Method, Uri},
    routing::get,
};
use forebay::{
    Forebay,
    http::{Addresses, CallerLayer, UniqueLayer},
};

use crate::{keys, problem::Problem, visitors};

/// Puts the parts of the service together.
pub(crate) fn router(forebay: &Forebay, parts: [Router; 3]) -> Result<Router> {
    let visitors = forebay.unique("visitors").build()?;
    Ok(parts
        .into_iter()
        .fold(Router::new(), Router::merge)
        .fallback(async |method: Method, uri: Uri| Problem::no_route(&method, &uri))
        .layer(UniqueLayer::new(visitors.clone()))
        .layer(CallerLayer::new(Addresses::new()).lookup(keys::identity))
        // After the layers, which lie in front of what was added before them: whoever looks is no visitor.
        .merge(visitors::router(visitors))
        .route("/livez", get(async || "ok\n")))
}

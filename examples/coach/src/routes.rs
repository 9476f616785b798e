//! The routes, and what each request goes through in front of them.

use anyhow::Result;
use axum::{
    Router,
    http::{Method, Uri, request::Parts},
    middleware::from_fn,
    routing::get,
};
use forebay::http::UniqueLayer;

use crate::{
    ask,
    callers::{self, Callers},
    codes, figures, payments, plan,
    problem::Problem,
    profile,
    service::Coach,
};

/// From the outside in: which app calls, whether it may, for which runner, who is counted as a visitor.
pub(crate) fn router(coach: Coach) -> Result<Router> {
    let Callers { known, limited, sign_in } = Callers::new(&coach.forebay, &coach.store)?;
    // After what was answered well, so that nobody counts as a runner that there is not.
    let visitors =
        UniqueLayer::new(coach.visitors.clone()).skip(is_of_operators).after(|status| status.is_success());
    Ok(Router::new()
        .merge(ask::router())
        .merge(profile::router())
        .merge(plan::router())
        .merge(codes::router(sign_in))
        .merge(payments::router(&coach.forebay)?)
        .merge(figures::router())
        .fallback(async |method: Method, uri: Uri| Problem::no_route(&method, &uri))
        .method_not_allowed_fallback(async |method: Method, uri: Uri| Problem::no_method(&method, &uri))
        .layer(visitors)
        .layer(from_fn(callers::speak_for_runner))
        .layer(limited)
        .layer(known)
        // After the layers, which lie in front of what was added before them.
        .route("/livez", get(async || "ok\n"))
        .with_state(coach))
}

/// Whoever looks is no visitor.
fn is_of_operators(head: &Parts) -> bool {
    ["/analytics/", "/rate-limit/", "/redis-monitor/"].iter().any(|path| head.uri.path().starts_with(path))
}

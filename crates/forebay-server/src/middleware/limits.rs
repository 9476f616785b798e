//! The limits of this server's own callers: by their token, else by their address.

use std::convert::Infallible;

use axum::{
    extract::{Request, State},
    http::request::Parts,
    middleware::Next,
    response::Response,
};
use forebay::{
    http::{CallerLayer, HeaderStyle, RateLimitLayer},
    limiter::Decision,
};

use crate::{api::decision, app::Shared, dashboard::is_asset, limits::Policy};

/// Where the answer shows another quota than the caller's own: that which the call is about.
const LIMITS: &str = "/v1/limits/";

/// Resolves who is calling. A token that is unknown counts as none, and takes from the quota of its address.
///
/// A known one has its own, so that this keeps nobody from guessing tokens: they are to be long and random.
pub(crate) fn callers(app: &Shared) -> CallerLayer {
    let tokens = app.clone();
    CallerLayer::new(app.addresses.clone()).lookup(move |head| {
        let identity = tokens.tokens.identify(&head.headers);
        async move { Ok::<_, Infallible>(identity) }
    })
}

/// Takes each call from its caller's quota; whether the server is alive can always be asked, and the files of the page
/// are not what anybody needs to be kept from.
pub(crate) fn limit(policy: &Policy) -> RateLimitLayer {
    let is_open = |head: &Parts| matches!(head.uri.path(), "/livez" | "/readyz") || is_asset(head.uri.path());
    RateLimitLayer::new(policy.limiter.clone()).headers(HeaderStyle::Off).skip(is_open)
}

/// Says in the words and headers of this server what the layer has decided.
pub(crate) async fn in_own_words(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let is_about_another = request.uri().path().starts_with(LIMITS);
    let mut response = next.run(request).await;
    let (Some(policy), Some(decision)) = (app.limits.own(), response.extensions_mut().remove::<Decision>())
    else {
        return response;
    };
    if !decision.is_allowed() {
        return decision::answer(policy.limiter.policy(), &decision, app.limit_headers);
    }
    if !is_about_another {
        app.limit_headers.write(&decision, response.headers_mut());
    }
    response
}

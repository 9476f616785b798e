//! Requests as they come from a peer, a route that tells who is asking, and limiters whose time is moved.

use std::net::{IpAddr, SocketAddr};

use axum::{Router, body::Body, extract::ConnectInfo, response::Response, routing::get};
use forebay::{
    Forebay, Subject,
    clock::{Clock, Manual},
    http::{Addresses, Caller, CallerLayer, RateLimitLayer},
    limiter::{Decision, Limiter, Tiers},
};
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// A route that answers with its caller's subject and tier.
pub(crate) fn telling(layer: CallerLayer) -> Router {
    let tell = async |caller: Caller| format!("{} {}", caller.subject(), caller.tier());
    Router::new().route("/", get(tell)).layer(layer)
}

/// A request with its headers, from the address `peer`, or from nowhere where that is empty.
pub(crate) fn request(peer: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::new(Body::empty());
    if !peer.is_empty() {
        let peer: IpAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer, 40_000)));
    }
    for (name, value) in headers {
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> Response {
    router.clone().oneshot(request).await.unwrap()
}

/// What [`telling`] tells of such a request.
pub(crate) async fn told(router: &Router, peer: &str, headers: &[(&str, &str)]) -> String {
    let response = send(router, request(peer, headers)).await;
    assert_eq!(response.status(), 200);
    text(response).await
}

pub(crate) async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

pub(crate) const PEER: &str = "198.51.100.4";

/// A `Forebay` on the memory store.
pub(crate) struct Stage {
    pub(crate) forebay: Forebay,
    pub(crate) time: Manual,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let (clock, time) = Clock::manual();
        let forebay = Forebay::builder("http").memory().clock(clock);
        Self { forebay: forebay.build().await.unwrap(), time }
    }

    /// A limiter with these windows for everybody.
    pub(crate) fn limiter(&self, policy: &str, windows: &[&str]) -> Limiter {
        let tiers = Tiers::new().tier("free", windows.iter().copied()).unwrap();
        let tiers = tiers.tier("default", windows.iter().copied()).unwrap();
        self.forebay.limiter(policy, tiers).build().unwrap()
    }
}

/// A route that answers `200 OK`, behind a layer and one that says who is asking.
pub(crate) fn limited(layer: RateLimitLayer) -> Router {
    let router = Router::new().route("/", get(async || "done"));
    router.layer(layer).layer(CallerLayer::new(Addresses::new()))
}

/// The answer to a request from [`PEER`] without further headers.
pub(crate) async fn ask(router: &Router) -> Response {
    send(router, request(PEER, &[])).await
}

/// How much the address has left in the window that binds.
pub(crate) async fn left(limiter: &Limiter, address: &str) -> u64 {
    // What is given back is given back by a task.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let subject = Subject::address(address.parse().unwrap());
    match limiter.peek(&subject, "free").await {
        Decision::Allowed(quota) | Decision::Denied { quota, .. } => quota.remaining(),
        other => panic!("{other:?}"),
    }
}

//! Requests as they come from a peer, and a route that tells who is asking.

use std::net::{IpAddr, SocketAddr};

use axum::{Router, body::Body, extract::ConnectInfo, response::Response, routing::get};
use forebay::http::{Caller, CallerLayer};
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

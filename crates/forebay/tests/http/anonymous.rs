//! Visitors without an account.

use axum::{Router, response::AppendHeaders, routing::get};
use forebay::Subject;
use forebay::http::{Addresses, AnonymousIds, Caller, CallerLayer, Identity};
use http::StatusCode;

use crate::stage::{header, request, send, telling, text, told};

const PEER: &str = "198.51.100.4";

fn ids() -> AnonymousIds {
    AnonymousIds::new([7; 32]).unwrap()
}

fn layer() -> CallerLayer {
    CallerLayer::new(Addresses::new()).anonymous(ids())
}

/// Sends a request, and returns what was told and the cookie that came with it.
async fn visit(router: &Router, cookie: &str) -> (String, String) {
    let response = send(router, request(PEER, &[("cookie", cookie)])).await;
    let issued = header(response.headers(), "set-cookie").split(';').next().unwrap().to_owned();
    (text(response).await, issued)
}

#[tokio::test]
async fn an_id_counts_from_the_request_after_the_one_that_brought_it() {
    let router = telling(layer());
    let (told, cookie) = visit(&router, "").await;
    assert_eq!(told, "address:198.51.100.4 free");

    let (told, issued) = visit(&router, &cookie).await;
    assert_eq!(told, format!("anonymous:{} free", &cookie["visitor=".len()..][..32]));
    assert_eq!(issued, "", "one that is known gets no other");
}

#[tokio::test]
async fn a_cookie_that_was_not_signed_by_us_is_no_identity() {
    let router = telling(layer());
    let (_, foreign) = visit(&telling(CallerLayer::new(Addresses::new()).anonymous(foreign())), "").await;
    for cookie in [&*foreign, "visitor=00000000000000000000000000000000.00"] {
        let (told, issued) = visit(&router, cookie).await;
        assert_eq!(told, "address:198.51.100.4 free", "{cookie}");
        assert!(issued.starts_with("visitor="), "it gets a new one");
    }
}

fn foreign() -> AnonymousIds {
    AnonymousIds::new([8; 32]).unwrap()
}

#[tokio::test]
async fn whoever_is_identified_needs_no_id() {
    let layer = layer().lookup(|_| async { Ok::<_, std::io::Error>(Some(Subject::user("42").into())) });
    let (told, issued) = visit(&telling(layer), "").await;
    assert_eq!((&*told, &*issued), ("user:42 default", ""));
}

#[tokio::test]
async fn a_refusal_brings_no_id_since_that_would_be_a_new_quota() {
    for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
        let router = Router::new().route("/", get(async move || status)).layer(layer());
        assert_eq!(visit(&router, "").await.1, "");
    }
}

#[tokio::test]
async fn no_shared_cache_keeps_an_answer_that_brings_an_id() {
    for (set, sent) in [
        ("", "private"),
        ("public, max-age=60", "public, max-age=60, private"),
        ("private=\"a\"", "private=\"a\", private"),
        ("max-age=60, Private", "max-age=60, Private"),
        ("no-store", "no-store"),
    ] {
        let set = [("cache-control", set)].into_iter().filter(|(_, set)| !set.is_empty());
        let router = Router::new().route("/", get(AppendHeaders(set.collect::<Vec<_>>()))).layer(layer());

        let answer = send(&router, request(PEER, &[])).await;
        let lines = answer.headers().get_all("cache-control").iter().map(|line| line.to_str().unwrap());
        assert_eq!(lines.collect::<Vec<_>>().join(", "), sent);

        let cookie = header(answer.headers(), "set-cookie").split(';').next().unwrap();
        let again = send(&router, request(PEER, &[("cookie", cookie)])).await;
        assert!(again.headers().get_all("cache-control").iter().all(|line| line != "private"));
    }
}

#[tokio::test]
async fn the_address_alone_is_still_there() {
    let tell = async |caller: Caller| caller.address().to_string();
    let router = Router::new().route("/", get(tell)).layer(layer());
    let (_, cookie) = visit(&router, "").await;
    assert_eq!(visit(&router, &cookie).await.0, "address:198.51.100.4");
}

#[tokio::test]
async fn tiers_are_those_that_are_set() {
    let layer = layer().anonymous_tier("guest").identified_tier("member").lookup(|head| {
        let tier = head.headers.get("tier").map(|tier| tier.to_str().unwrap().to_owned());
        async move {
            let Some(tier) = tier else { return Ok(None) };
            let identity = Identity::new(Subject::user("42"));
            Ok::<_, std::io::Error>(Some(if tier.is_empty() { identity } else { identity.tier(tier) }))
        }
    });
    let router = telling(layer);
    let (_, cookie) = visit(&router, "").await;

    assert!(visit(&router, &cookie).await.0.ends_with(" guest"));
    assert_eq!(told(&router, PEER, &[]).await, "address:198.51.100.4 guest");
    assert_eq!(told(&router, PEER, &[("tier", "")]).await, "user:42 member");
    assert_eq!(told(&router, PEER, &[("tier", "pro")]).await, "user:42 pro");
}

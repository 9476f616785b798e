//! Layers on top of each other.

use std::{
    convert::Infallible,
    future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use axum::{Router, response::Response, routing::get};
use forebay::{
    Subject,
    http::{Addresses, CallerLayer, HeaderStyle, RateLimitLayer, Whose},
    limiter::{Limiter, Tiers},
};
use http::{Request, request::Parts};

use crate::stage::{PEER, Stage, header, left, request, send};

/// `/` behind one limiter, `/costly` behind a second one further in.
fn router(outer: &Limiter, inner: &Limiter) -> Router {
    let costly = get(async || "done").layer(RateLimitLayer::new(inner.clone()).headers(HeaderStyle::Draft11));
    Router::new()
        .route("/", get(async || "done"))
        .route("/costly", costly)
        .layer(RateLimitLayer::new(outer.clone()).headers(HeaderStyle::Draft11))
        .layer(CallerLayer::new(Addresses::new()))
}

async fn costly(router: &Router) -> Response {
    let (mut head, body) = request(PEER, &[]).into_parts();
    head.uri = "/costly".parse().unwrap();
    send(router, Request::from_parts(head, body)).await
}

/// The policy that an answer shows, and how much is left of it; once each.
fn shown(answer: &Response) -> (String, String) {
    for name in
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "ratelimit-policy"]
    {
        assert_eq!(answer.headers().get_all(name).iter().count(), 1, "{name}");
    }
    let policy = header(answer.headers(), "ratelimit").split('"').nth(1).unwrap();
    (policy.into(), header(answer.headers(), "x-ratelimit-remaining").into())
}

fn is(policy: &str, left: u64) -> (String, String) {
    (policy.into(), left.to_string())
}

#[tokio::test]
async fn the_answer_shows_the_policy_with_the_least_left() {
    let stage = Stage::new().await;
    let router = router(&stage.limiter("outer", &["4/minute"]), &stage.limiter("inner", &["2/hour"]));

    assert_eq!(shown(&costly(&router).await), is("inner-hour", 1));
    assert_eq!(shown(&send(&router, request(PEER, &[])).await), is("outer-minute", 2));
    send(&router, request(PEER, &[])).await;
    assert_eq!(shown(&costly(&router).await), is("inner-hour", 0), "the one that is longer to wait for");
}

#[tokio::test]
async fn the_outer_policy_is_shown_where_it_has_less() {
    let stage = Stage::new().await;
    let router = router(&stage.limiter("outer", &["2/minute"]), &stage.limiter("inner", &["20/minute"]));
    assert_eq!(shown(&costly(&router).await), is("outer-minute", 1));
}

#[tokio::test]
async fn headers_of_another_style_are_not_left_behind() {
    let stage = Stage::new().await;
    let (outer, inner) = (stage.limiter("outer", &["2/minute"]), stage.limiter("inner", &["20/minute"]));
    let router = Router::new()
        .route("/", get(async || "done"))
        .layer(RateLimitLayer::new(inner).headers(HeaderStyle::Draft11))
        .layer(RateLimitLayer::new(outer))
        .layer(CallerLayer::new(Addresses::new()));
    let answer = send(&router, request(PEER, &[])).await;
    assert_eq!(header(answer.headers(), "x-ratelimit-limit"), "2");
    assert!(
        !answer.headers().contains_key("ratelimit") && !answer.headers().contains_key("ratelimit-policy")
    );
}

#[tokio::test]
async fn a_policy_without_limit_hides_no_other() {
    let stage = Stage::new().await;
    let unlimited =
        stage.forebay.limiter("unlimited", Tiers::new().unlimited("free").unwrap()).build().unwrap();
    let limiter = stage.limiter("api", &["9/minute"]);
    for (outer, inner, left) in [(&unlimited, &limiter, 8), (&limiter, &unlimited, 7)] {
        assert_eq!(shown(&costly(&router(outer, inner)).await), is("api-minute", left));
    }
}

// R31: envoyproxy/ratelimit#185: what one limit refused was taken from the others.
#[tokio::test]
async fn what_the_inner_layer_refuses_the_outer_one_gives_back() {
    let stage = Stage::new().await;
    let (outer, inner) = (stage.limiter("outer", &["4/minute"]), stage.limiter("inner", &["1/minute"]));
    let router = router(&outer, &inner);
    costly(&router).await;
    for _ in 0..20 {
        let refused = costly(&router).await;
        assert_eq!((refused.status().as_u16(), shown(&refused)), (429, is("inner-minute", 0)));
        assert_eq!(left(&outer, PEER).await, 3);
    }
}

#[tokio::test]
async fn what_the_outer_layer_refuses_never_reaches_the_inner_one() {
    let stage = Stage::new().await;
    let (outer, inner) = (stage.limiter("outer", &["1/minute"]), stage.limiter("inner", &["5/minute"]));
    let router = router(&outer, &inner);
    costly(&router).await;
    let refused = costly(&router).await;
    assert_eq!((refused.status().as_u16(), shown(&refused)), (429, is("outer-minute", 0)));
    assert_eq!(left(&inner, PEER).await, 4);
}

#[tokio::test]
async fn a_limit_by_address_in_front_of_the_look_up_tells_whoever_guesses_nothing() {
    let stage = Stage::new().await;
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = lookups.clone();
    let lookup = move |head: &Parts| {
        counted.fetch_add(1, SeqCst);
        let known = head.headers.get("x-api-key").is_some_and(|key| key == "right");
        future::ready(Ok::<_, Infallible>(known.then(|| Subject::key("1").into())))
    };
    let router = Router::new()
        .route("/", get(async || "done"))
        .layer(CallerLayer::new(Addresses::new()).lookup(lookup))
        .layer(RateLimitLayer::new(stage.limiter("all", &["2/minute"])).by([Whose::address()]))
        .layer(CallerLayer::new(Addresses::new()));

    for (key, status) in [("guess", 200), ("guess again", 200), ("wrong", 429), ("right", 429)] {
        assert_eq!(send(&router, request(PEER, &[("x-api-key", key)])).await.status(), status, "{key}");
    }
    assert_eq!(lookups.load(SeqCst), 2);
}

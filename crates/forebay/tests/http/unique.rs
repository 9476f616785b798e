//! Whom a layer records as visitors.

use std::convert::Infallible;

use axum::{Router, routing::get};
use forebay::{
    Subject,
    http::{Addresses, CallerLayer, Identity, UniqueLayer},
    unique::Unique,
};
use http::{Method, StatusCode};

use crate::stage::{PEER, Stage, request, send};

/// Routes that are found and not, behind the layer and one that says who is asking.
fn router(layer: UniqueLayer) -> Router {
    let router = Router::new().route("/", get(async || "here").post(async || StatusCode::CONFLICT));
    let caller = CallerLayer::new(Addresses::new().trusted(["198.51.100.0/24"]).unwrap());
    let caller = caller.lookup(|head| {
        let user = head.headers.get("x-user").map(|user| Subject::user(user.to_str().unwrap()));
        std::future::ready(Ok::<_, Infallible>(user.map(Identity::new)))
    });
    router.layer(layer).layer(caller)
}

async fn visitors(stage: &Stage) -> Unique {
    stage.forebay.unique("site").build().unwrap()
}

async fn count(unique: &Unique) -> u64 {
    unique.today().await.unwrap().visitors
}

#[tokio::test]
async fn each_caller_is_one_visitor_whatever_it_asks_and_from_wherever() {
    let stage = Stage::new().await;
    let unique = visitors(&stage).await;
    let router = router(UniqueLayer::new(unique.clone()));
    for (n, (user, address)) in
        [("ada", "203.0.113.1"), ("ada", "203.0.113.2"), ("grace", "203.0.113.1")].into_iter().enumerate()
    {
        send(&router, request(PEER, &[("x-user", user), ("x-forwarded-for", address)])).await;
        assert_eq!(count(&unique).await, [1, 1, 2][n]);
    }
    for address in ["203.0.113.1", "203.0.113.2", "203.0.113.1"] {
        send(&router, request(PEER, &[("x-forwarded-for", address)])).await;
    }
    assert_eq!(count(&unique).await, 4);
    // As a program does that counts by itself.
    unique.record(Subject::user("ada").as_str());
    assert_eq!(count(&unique).await, 4);
}

#[tokio::test]
async fn what_is_skipped_or_answered_otherwise_is_not_recorded() {
    let stage = Stage::new().await;
    let unique = visitors(&stage).await;
    let layer = UniqueLayer::new(unique.clone()).skip(|head| head.headers.contains_key("x-robot"));
    let router = router(layer.after(|status| status.is_success()));

    send(&router, request(PEER, &[("x-user", "robot"), ("x-robot", "1")])).await;
    let mut refused = request(PEER, &[("x-user", "refused")]);
    *refused.method_mut() = Method::POST;
    assert_eq!(send(&router, refused).await.status(), StatusCode::CONFLICT);
    assert_eq!(count(&unique).await, 0);

    assert_eq!(send(&router, request(PEER, &[("x-user", "ada")])).await.status(), StatusCode::OK);
    assert_eq!(count(&unique).await, 1);
}

#[tokio::test]
async fn by_default_a_request_counts_before_it_is_answered() {
    let stage = Stage::new().await;
    let unique = visitors(&stage).await;
    let router = Router::new().route("/", get(std::future::pending::<()>));
    let router = router.layer(UniqueLayer::new(unique.clone())).layer(CallerLayer::new(Addresses::new()));
    let mut answer = Box::pin(send(&router, request(PEER, &[])));
    assert!(futures::poll!(&mut answer).is_pending());
    drop(answer);
    assert_eq!(count(&unique).await, 1);
}

//! Clients that go away at an await, after every number of polls of their request.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{Router, body::Body, http::Request, response::Response, routing::post};
use forebay::{
    Forebay, Subject,
    http::{Caller, IdempotencyLayer},
};
use forebay_rig::Redis;
use tower::ServiceExt;

use super::{
    polls::{within_polls, within_polls_and},
    shop::PATIENCE,
};

/// More than a request is polled.
const MOST: usize = 100;

fn request(key: &str) -> Request<Body> {
    let mut request = Request::post("/payments").header("idempotency-key", key).body(Body::empty()).unwrap();
    request.extensions_mut().insert(Caller::unknown().identified(Subject::user("42").into()));
    request
}

/// Sends a request until it is neither being carried out nor indeterminate.
async fn in_the_end(router: &Router, key: &str) -> Result<Response, Infallible> {
    let answers = async {
        loop {
            let answer = router.clone().oneshot(request(key)).await?;
            if answer.status() == 200 {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, answers).await.expect("somebody who left keeps others out")
}

/// Whether a request ends whose client goes away after so many polls, at once or a moment later; it is carried out once.
async fn ends(layer: &IdempotencyLayer, polls: usize, late: bool) -> bool {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let pay = async move || {
        tokio::task::yield_now().await;
        counted.fetch_add(1, SeqCst);
    };
    let router = Router::new().route("/payments", post(pay)).layer(layer.clone());
    let key = format!("{polls}-{late}");
    let sent = router.clone().oneshot(request(&key));
    let answer = match late {
        true => within_polls_and(polls, sent, tokio::time::sleep(Duration::from_millis(5))).await,
        false => within_polls(polls, sent).await,
    };
    in_the_end(&router, &key).await.unwrap();
    assert_eq!(runs.load(SeqCst), 1, "{key}");
    answer.is_some()
}

#[tokio::test]
async fn whenever_a_client_goes_away_its_payment_is_made_once_and_told_to_who_asks_again() {
    let redis = Redis::start();
    let memory = Forebay::builder("shop").memory().build().await.unwrap();
    let shared = Forebay::builder("shop").redis(redis.url()).redis_budget(Duration::from_secs(5));
    for forebay in [memory, shared.build().await.unwrap()] {
        let layer = IdempotencyLayer::new(forebay.idempotency().build().unwrap());
        for late in [false, true] {
            let mut polls = 0;
            while !ends(&layer, polls, late).await {
                polls += 1;
                assert!(polls < MOST, "it does not end");
            }
        }
    }
}

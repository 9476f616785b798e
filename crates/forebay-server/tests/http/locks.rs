//! Locks: one holder at a time, over memory and over Redis.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Answered, Server, Stage};

const LOCK: &str = "/v1/locks/plan:42";
const OWN: &str = "0123456789abcdef0123456789abcdef";

async fn take(server: &Server, body: Value) -> Answered {
    Answered::to(server.post(LOCK, body.to_string())).await
}

/// The token and the fence of a lock that is had.
async fn taken(server: &Server, body: Value) -> (String, u64) {
    let answer = take(server, body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let json = answer.json();
    (json["token"].as_str().unwrap().to_owned(), json["fence"].as_u64().unwrap())
}

async fn under(server: &Server, method: &str, token: &str, body: &'static str) -> Answered {
    let request = server.request(method, LOCK).header("forebay-token", token);
    Answered::to(request.body(body)).await
}

async fn is_free(server: &Server) -> bool {
    let answer = take(server, json!({})).await;
    if answer.status == 201 {
        let token = answer.json()["token"].as_str().unwrap().to_owned();
        assert_eq!(under(server, "DELETE", &token, "").await.status, 204);
    }
    answer.status == 201
}

#[tokio::test]
async fn one_has_the_lock_and_all_others_are_told_when_to_come_back() {
    for stage in Stage::each().await {
        let first = take(&stage.here, json!({})).await.json();
        let fence = first["fence"].as_u64().unwrap();
        assert_eq!(first["ttl_ms"], 30_000);
        assert_eq!(first.as_object().unwrap().len(), 3, "{first}");
        assert!(fence < 1 << 53, "{fence}");

        let refused = take(&stage.there, json!({})).await;
        assert_eq!(refused.problem(), (409, "locked".into()));
        let left = refused.json()["retry_after_ms"].as_u64().unwrap();
        assert!((20_000..=30_000).contains(&left), "{left}");
        assert_eq!(refused.header("retry-after"), Some(&*left.div_ceil(1_000).to_string()));
        assert_eq!(refused.json()["retry_after"], left.div_ceil(1_000));

        let token = first["token"].as_str().unwrap();
        assert_eq!(under(&stage.there, "DELETE", token, "").await.status, 204);
        assert!(taken(&stage.there, json!({})).await.1 > fence);
    }
}

#[tokio::test]
async fn whoever_waits_has_it_once_it_is_free() {
    for stage in Stage::each().await {
        let (token, fence) = taken(&stage.here, json!({})).await;
        let there = stage.there.clone();
        let waits = tokio::spawn(async move { taken(&there, json!({ "wait_ms": 8_000 })).await });
        sleep(Duration::from_millis(300)).await;
        assert!(!waits.is_finished());

        under(&stage.here, "DELETE", &token, "").await;

        assert!(waits.await.unwrap().1 > fence);
    }
}

#[tokio::test]
async fn whoever_has_waited_in_vain_is_told_so() {
    for stage in Stage::each().await {
        taken(&stage.here, json!({})).await;
        assert_eq!(take(&stage.there, json!({ "wait_ms": 300 })).await.problem(), (409, "locked".into()));
    }
}

#[tokio::test]
async fn a_retry_under_ones_own_token_has_the_same_fence() {
    for stage in Stage::each().await {
        let first = taken(&stage.here, json!({ "token": OWN })).await;

        assert_eq!(taken(&stage.there, json!({ "token": OWN })).await, first);
        assert_eq!(first.0, OWN);
        assert_eq!(take(&stage.here, json!({})).await.status, 409);
        assert_eq!(under(&stage.there, "DELETE", OWN, "").await.status, 204);
        assert!(is_free(&stage.here).await);
    }
}

#[tokio::test]
async fn a_lock_is_held_for_longer_when_renewed() {
    for stage in Stage::each().await {
        let (token, _) = taken(&stage.here, json!({ "ttl_ms": 600 })).await;

        let renewed = under(&stage.there, "PATCH", &token, r#"{"ttl_ms":20000}"#).await;

        assert_eq!((renewed.status, renewed.body.as_str()), (200, r#"{"ttl_ms":20000}"#));
        sleep(Duration::from_millis(900)).await;
        assert!(!is_free(&stage.here).await);
        assert_eq!(under(&stage.here, "PATCH", &token, "").await.json(), json!({ "ttl_ms": 30_000 }));
    }
}

// L10: a renewal for a life that cannot be.
#[tokio::test]
async fn a_refused_renewal_drops_nothing() {
    for stage in Stage::each().await {
        let (token, _) = taken(&stage.here, json!({})).await;
        for body in [r#"{"ttl_ms":0}"#, r#"{"ttl_ms":99}"#, r#"{"ttl_ms":86400001}"#, r#"{"ttl_ms":-1}"#] {
            let refused = under(&stage.here, "PATCH", &token, body).await;
            assert_eq!(refused.problem(), (400, "invalid-body".into()), "{body}");
            assert!(refused.body.contains("`ttl_ms`"), "{refused:?}");
            assert!(!is_free(&stage.there).await, "{body}");
        }
        assert_eq!(under(&stage.there, "PATCH", &token, "").await.status, 200);
    }
}

// L9: whoever does not hold a lock frees nothing.
#[tokio::test]
async fn a_stranger_frees_and_renews_nothing() {
    for stage in Stage::each().await {
        let (token, _) = taken(&stage.here, json!({})).await;
        for method in ["PATCH", "DELETE"] {
            assert_eq!(under(&stage.there, method, OWN, "").await.problem(), (409, "not-the-holder".into()));
        }
        assert!(!is_free(&stage.here).await);
        assert_eq!(under(&stage.there, "DELETE", &token, "").await.status, 204);
        assert_eq!(under(&stage.there, "DELETE", &token, "").await.problem(), (409, "not-the-holder".into()));
    }
}

#[tokio::test]
async fn a_lock_that_is_not_renewed_ends_and_nothing_revives_it() {
    for stage in Stage::each().await {
        let (token, fence) = taken(&stage.here, json!({ "ttl_ms": 100 })).await;
        sleep(Duration::from_millis(300)).await;
        assert_eq!(under(&stage.here, "PATCH", &token, "").await.problem(), (409, "not-the-holder".into()));
        assert!(taken(&stage.there, json!({})).await.1 > fence);
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_it_waits_is_not_given_the_lock() {
    for stage in Stage::each().await {
        for waits in [json!({ "wait_ms": 8_000 }), json!({ "wait_ms": 8_000, "token": OWN })] {
            let (token, _) = taken(&stage.here, json!({})).await;
            let waiting = stage.there.post(LOCK, waits.to_string()).timeout(Duration::from_millis(300));
            assert!(waiting.send().await.unwrap_err().is_timeout());
            sleep(Duration::from_millis(300)).await;

            under(&stage.here, "DELETE", &token, "").await;
            sleep(Duration::from_millis(300)).await;

            assert!(is_free(&stage.here).await, "{waits}");
        }
    }
}

#[tokio::test]
async fn any_text_names_a_lock_of_its_own() {
    for stage in Stage::each().await {
        let long = "x".repeat(1024);
        let names = ["{", "}", "{a}", "%", "%~", "a/b", "a b", "ä", "\0", &long, &format!("{long}y")];
        for name in names {
            let path = format!("/v1/locks/{}", utf8_percent_encode(name, NON_ALPHANUMERIC));
            assert_eq!(Answered::to(stage.here.post(&path, "")).await.status, 201, "{name:?}");
            assert_eq!(Answered::to(stage.there.post(&path, "")).await.status, 409, "{name:?}");
        }
    }
}

#[tokio::test]
async fn nobody_may_wait_for_longer_than_a_request_may_take() {
    let server = Server::with("[server]\nrequest_deadline = \"2s\"");
    let refused = take(&server, json!({ "wait_ms": 1_801 })).await;
    assert_eq!(refused.problem(), (400, "invalid-body".into()));
    assert!(refused.body.contains("`wait_ms`") && refused.body.contains("1800"), "{refused:?}");
    taken(&server, json!({})).await;
    assert_eq!(take(&server, json!({ "wait_ms": 1_800 })).await.problem(), (409, "locked".into()));
}

//! Work that runs once, over memory and over Redis.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::support::{Answered, Server, Stage};

const KEY: &str = "/v1/idempotency/user:42 order:7";
const OWN: &str = "0123456789abcdef0123456789abcdef";

/// The request that is to be run once, with `more` of its options.
fn pay(more: &Value) -> Value {
    let mut body = json!({ "fingerprint": "1200 cents" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

async fn begin(server: &Server, more: Value) -> Answered {
    Answered::to(server.post(KEY, pay(&more).to_string())).await
}

/// The owner of what may be run.
async fn begun(server: &Server, more: Value) -> String {
    let answer = begin(server, more).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["owner"].as_str().unwrap().to_owned()
}

async fn under(server: &Server, method: &str, owner: &str, body: impl Into<reqwest::Body>) -> Answered {
    Answered::to(server.request(method, KEY).header("forebay-token", owner).body(body)).await
}

#[tokio::test]
async fn what_was_run_is_answered_to_everybody_who_asks_again() {
    for stage in Stage::each().await {
        let first = begin(&stage.here, json!({})).await.json();
        assert_eq!(first["lease_ms"], 30_000);
        let running = begin(&stage.there, json!({})).await;
        assert_eq!(running.problem(), (409, "running".into()));
        let left = running.json()["retry_after_ms"].as_u64().unwrap();
        assert!((20_000..=30_000).contains(&left), "{left}");
        assert_eq!(running.header("retry-after"), Some(&*left.div_ceil(1_000).to_string()));

        let done = stage.here.put(KEY, r#"{"charged":1200}"#).header("content-type", "application/json");
        let done = Answered::to(done.header("forebay-token", first["owner"].as_str().unwrap())).await;
        assert_eq!((done.status, done.body.as_str()), (204, ""));

        let again = begin(&stage.there, json!({})).await;
        assert_eq!((again.status, again.body.as_str()), (200, r#"{"charged":1200}"#));
        assert_eq!(again.header("content-type"), Some("application/json"));
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(again.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn of_a_hundred_requests_at_once_one_runs() {
    for stage in Stage::each().await {
        let servers = [stage.here.clone(), stage.there.clone()];
        let mut callers = JoinSet::new();
        for caller in 0..100 {
            let server = Arc::clone(&servers[caller % 2]);
            callers.spawn(async move { begin(&server, json!({})).await.status });
        }
        let mut statuses = callers.join_all().await;
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, &[409; 99][..]));
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_and_says_nothing_of_another_key() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({})).await;
        let other = json!({ "fingerprint": "1300 cents" }).to_string();
        for _ in 0..2 {
            let answer = Answered::to(stage.there.post(KEY, other.clone())).await;
            assert_eq!(answer.problem(), (422, "other-fingerprint".into()));
            under(&stage.here, "PUT", &owner, "done").await;
        }
        let path = "/v1/idempotency/user:43 order:7";
        assert_eq!(Answered::to(stage.there.post(path, other)).await.status, 201);
    }
}

#[tokio::test]
async fn what_nobody_has_ended_is_not_run_again_unless_the_client_says_so() {
    for stage in Stage::each().await {
        let first = begun(&stage.here, json!({ "lease_ms": 100 })).await;
        sleep(Duration::from_millis(300)).await;
        let answer = begin(&stage.there, json!({})).await;
        assert_eq!(answer.problem(), (409, "indeterminate".into()));
        assert!(answer.body.contains("on_indeterminate"), "{answer:?}");

        let second = begun(&stage.there, json!({ "on_indeterminate": "rerun" })).await;

        let late = under(&stage.here, "PUT", &first, "late").await;
        assert_eq!(late.problem(), (409, "not-the-holder".into()));
        assert_eq!(under(&stage.here, "PUT", &second, "done").await.status, 204);
        assert_eq!(begin(&stage.there, json!({})).await.body, "done");
    }
}

#[tokio::test]
async fn what_ends_late_is_kept_if_nobody_else_has_run_it() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({ "lease_ms": 100 })).await;
        sleep(Duration::from_millis(300)).await;
        assert_eq!(under(&stage.there, "PUT", &owner, "late").await.status, 204);
        let again = begin(&stage.here, json!({ "on_indeterminate": "rerun" })).await;
        assert_eq!((again.status, again.body.as_str()), (200, "late"));
    }
}

#[tokio::test]
async fn a_lease_that_is_renewed_keeps_others_out_for_longer() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({ "lease_ms": 500 })).await;
        let renewed = under(&stage.there, "PATCH", &owner, r#"{"lease_ms":20000}"#).await;
        assert_eq!((renewed.status, renewed.body.as_str()), (200, r#"{"lease_ms":20000}"#));
        sleep(Duration::from_millis(800)).await;
        assert_eq!(begin(&stage.here, json!({})).await.problem(), (409, "running".into()));
        assert_eq!(under(&stage.here, "PATCH", &owner, "").await.json(), json!({ "lease_ms": 30_000 }));

        assert_eq!(under(&stage.here, "PATCH", OWN, "").await.problem(), (409, "not-the-holder".into()));
        under(&stage.here, "PUT", &owner, "done").await;
        assert_eq!(under(&stage.here, "PATCH", &owner, "").await.problem(), (409, "not-the-holder".into()));
    }
}

#[tokio::test]
async fn what_was_not_done_is_run_by_the_next() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({})).await;
        assert_eq!(under(&stage.there, "DELETE", OWN, "").await.problem(), (409, "not-the-holder".into()));
        assert_eq!(under(&stage.there, "DELETE", &owner, "").await.status, 204);
        assert_eq!(under(&stage.there, "DELETE", &owner, "").await.problem(), (409, "not-the-holder".into()));
        begun(&stage.here, json!({})).await;
    }
}

#[tokio::test]
async fn a_retry_under_ones_own_token_may_run_still() {
    for stage in Stage::each().await {
        for server in [&stage.here, &stage.there] {
            assert_eq!(begun(server, json!({ "owner": OWN })).await, OWN);
        }
        assert_eq!(begin(&stage.here, json!({})).await.status, 409);
    }
}

#[tokio::test]
async fn what_is_completed_again_with_another_record_is_told_so() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({})).await;
        for server in [&stage.here, &stage.there] {
            assert_eq!(under(server, "PUT", &owner, "done").await.status, 204);
            for other in ["undone", ""] {
                let refused = under(server, "PUT", &owner, other).await;
                assert_eq!(refused.problem(), (409, "other-record".into()));
            }
            let too_large = under(server, "PUT", &owner, vec![b'a'; 1024 * 1024 + 1]).await;
            assert_eq!(too_large.problem(), (409, "other-record".into()));
            assert_eq!(begin(server, json!({})).await.body, "done");
        }
    }
}

#[tokio::test]
async fn a_record_too_large_to_keep_is_not_run_again() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({})).await;
        let largest = vec![b'a'; 1024 * 1024 + 1];

        for _ in 0..2 {
            let refused = under(&stage.here, "PUT", &owner, largest.clone()).await;
            assert_eq!(refused.problem(), (413, "too-large".into()));
            let smaller = under(&stage.there, "PUT", &owner, "smaller").await;
            assert_eq!(smaller.problem(), (409, "other-record".into()));
        }

        assert_eq!(begin(&stage.there, json!({})).await.problem(), (409, "record-omitted".into()));
    }
}

#[tokio::test]
async fn a_record_may_be_as_large_as_is_told_or_empty() {
    for stage in Stage::each().await {
        for (order, size) in [1024 * 1024, 0].into_iter().enumerate() {
            let key = format!("/v1/idempotency/order:{order}");
            let first = Answered::to(stage.here.post(&key, pay(&json!({})).to_string())).await.json();
            let done = stage.here.put(&key, "a".repeat(size));
            let done = done.header("forebay-token", first["owner"].as_str().unwrap());
            assert_eq!(Answered::to(done).await.status, 204);
            let again = Answered::to(stage.there.post(&key, pay(&json!({})).to_string())).await;
            assert_eq!((again.status, again.body.len()), (200, size));
            assert_eq!(again.header("content-type"), Some("application/octet-stream"));
        }
    }
}

#[tokio::test]
async fn a_key_is_new_again_when_it_is_no_longer_kept() {
    for stage in Stage::each().await {
        let owner = begun(&stage.here, json!({ "keep_ms": 500 })).await;
        under(&stage.here, "PUT", &owner, "done").await;
        sleep(Duration::from_millis(800)).await;
        begun(&stage.there, json!({})).await;
    }
}

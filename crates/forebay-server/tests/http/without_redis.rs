//! What needs Redis and cannot ask it says so.

use std::time::Duration;

use serde_json::json;

use crate::support::{Answered, Server, Stage};

const LOCK: &str = "/v1/locks/a";
const CLAIM: &str = "/v1/claims/a";
const KEY: &str = "/v1/idempotency/a";
const COUNTER: &str = "/v1/unique/site";

async fn token(server: &Server, path: &str, body: &'static str, member: &str) -> String {
    let answer = Answered::to(server.post(path, body)).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()[member].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_call_that_needs_redis_is_refused_while_it_is_gone() {
    let stage = Stage::redis("").await;
    let server = &stage.here;
    let lock = token(server, LOCK, "", "token").await;
    let claim = token(server, CLAIM, r#"{"ttl_ms":60000}"#, "token").await;
    let owner = token(server, KEY, r#"{"fingerprint":"a"}"#, "owner").await;

    stage.redis.as_ref().unwrap().kill();

    let under =
        |method: &str, path: &str, token: &str| server.request(method, path).header("forebay-token", token);
    let calls = [
        server.post(LOCK, ""),
        server.post("/v1/locks/b", r#"{"wait_ms":20000}"#),
        server.post("/v1/locks/b", r#"{"token":"0123456789abcdef0123456789abcdef"}"#),
        under("PATCH", LOCK, &lock),
        under("DELETE", LOCK, &lock),
        server.post(CLAIM, r#"{"ttl_ms":60000}"#),
        under("DELETE", CLAIM, &claim),
        server.post(KEY, r#"{"fingerprint":"a"}"#),
        under("PUT", KEY, &owner).body("done"),
        under("PATCH", KEY, &owner),
        under("DELETE", KEY, &owner),
        server.post("/v1/events/prices", "a"),
        server.get(COUNTER),
        server.get("/analytics/uv/today"),
        server.get("/analytics/uv/weekly"),
    ];
    for call in calls {
        let answer = Answered::to(call.timeout(Duration::from_secs(10))).await;
        assert_eq!(answer.problem(), (503, "redis-unavailable".into()), "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
    }
}

#[tokio::test]
async fn visitors_wait_for_redis_as_long_as_there_is_room() {
    let stage = Stage::redis("").await;
    stage.redis.as_ref().unwrap().kill();
    let (mut statuses, mut said) = (Vec::new(), String::new());
    for batch in 0..4 {
        let ids: Vec<_> = (batch * 10_000..(batch + 1) * 10_000).map(|id| id.to_string()).collect();
        let answer = Answered::to(stage.here.post(COUNTER, json!({ "ids": ids }).to_string())).await;
        statuses.push(answer.status);
        said = answer.body;
    }
    assert_eq!(statuses, [204, 204, 503, 503]);
    assert!(said.contains("20000 ids wait") && said.contains("none of these is counted"), "{said}");

    stage.redis.as_ref().unwrap().restart();

    for _ in 0..200 {
        let answer = Answered::to(stage.there.get(COUNTER)).await;
        if answer.status == 200 && answer.json()["count"].as_f64().unwrap() > 19_000.0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("those who waited are not counted");
}

//! Values that are invalidated by a pattern of their ids.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::support::{Answered, Server, Stage};

const SPACE: &str = "/v1/cache/matched";
const CALL: &str = "/v1/invalidate/matched";

async fn put(server: &Server, id: &str) {
    let put = Answered::to(server.put(&format!("{SPACE}/{id}?ttl_ms=60000"), "value")).await;
    assert_eq!(put.status, 204, "{put:?}");
}

async fn has(server: &Server, id: &str) -> bool {
    let got = Answered::to(server.get(&format!("{SPACE}/{id}"))).await;
    assert!([200, 404].contains(&got.status), "{got:?}");
    got.status == 200
}

async fn forget(server: &Server, query: &str) -> Answered {
    Answered::to(server.post(&format!("{CALL}?{query}"), "")).await
}

async fn is_gone(server: &Server, id: &str) {
    let gone = async {
        while has(server, id).await {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), gone).await.expect("it stays");
}

#[tokio::test]
async fn what_matches_is_gone_from_both_servers() {
    for stage in Stage::each().await {
        for id in ["p-1", "p-2", "q%20%7B1%7D"] {
            put(&stage.here, id).await;
        }
        let done = forget(&stage.there, "matching=p-%2A").await;
        let told = r#"{"invalidated":2,"deferred":0,"complete":true}"#;
        assert_eq!((done.status, done.body.as_str()), (200, told));
        is_gone(&stage.here, "p-1").await;
        assert!(!has(&stage.there, "p-2").await && has(&stage.there, "q%20%7B1%7D").await);
        assert!(forget(&stage.here, "matching=q%20%7B%3F%7D").await.body.contains(r#""invalidated":1"#));
    }
}

#[tokio::test]
async fn what_is_no_pattern_is_refused() {
    let server = Server::start();
    put(&server, "a").await;
    for (query, named) in [
        ("matching=%5Ba", r"write `\\[`"),
        ("matching=", "has no value"),
        ("matching=a&matching=b", "more than once"),
        ("like=a", "this call takes matching"),
    ] {
        let answer = forget(&server, query).await;
        assert_eq!(answer.problem(), (400, "invalid-query".into()), "{query}");
        assert!(answer.body.contains(named), "{query}: {}", answer.body);
    }
    let both = Answered::to(server.post(&format!("{CALL}?matching=a"), r#"{"ids":["a"]}"#)).await;
    assert_eq!(both.problem(), (400, "invalid-body".into()));
    assert!(has(&server, "a").await);
}

#[tokio::test]
async fn one_that_takes_longer_than_its_request_goes_on_alone() {
    let stage = Stage::redis("[server]\nrequest_deadline = \"1s\"").await;
    let script = "for n = 1, 100000 do redis.call('SET', 'other:' .. n, '', 'EX', 600) end";
    stage.redis.as_ref().unwrap().call(&["EVAL", script, "0"]);
    put(&stage.here, "a").await;
    let begun = forget(&stage.here, "matching=a").await;
    assert_eq!((begun.status, begun.body.as_str()), (202, r#"{"running":true}"#));
    let second = forget(&stage.here, "matching=b").await;
    assert_eq!((second.problem(), second.header("retry-after")), ((409, "running".into()), Some("1")));
    is_gone(&stage.there, "a").await;
}

#[tokio::test]
async fn a_space_invalidates_again_after_the_lag_that_it_is_told() {
    let server = Server::with("[cache.spaces.matched]\ninvalidate_again_after = \"300ms\"");
    assert_eq!(Answered::to(server.delete(&format!("{SPACE}/a"))).await.status, 204);
    put(&server, "a").await;
    is_gone(&server, "a").await;
}

//! Limits: every answer that a check, a look and a reset can have.

use serde_json::{Value, json};

use crate::support::{Answered, Server};

const SETTINGS: &str = r#"
[limits.api]
lowest = "free"
[limits.api.tiers]
free = ["2/minute", "100/hour"]
closed = ["0/minute"]
internal = "unlimited"
"#;

const API: &str = "/v1/limits/api";

async fn check(server: &Server, body: Value) -> Answered {
    Answered::to(server.post(API, body.to_string())).await
}

/// What the server is to be told by a client that is at once with it.
fn seconds_until(reset: &str) -> i64 {
    reset.parse::<i64>().unwrap() - jiff::Timestamp::now().as_second()
}

#[tokio::test]
async fn a_call_that_may_go_on_is_told_what_is_left() {
    let server = Server::with(SETTINGS);

    let answer = check(&server, json!({ "subject": "user:42" })).await;

    assert_eq!(answer.status, 200);
    let minute = json!({ "limit": 2, "window_ms": 60_000, "remaining": 1, "reset_after_ms": 66_000 });
    let hour = json!({ "limit": 100, "window_ms": 3_600_000, "remaining": 99, "reset_after_ms": 3_960_000 });
    let told = json!({
        "allowed": true, "policy": "api", "tier": "free", "limit": 2, "remaining": 1,
        "reset_after_ms": 66_000, "retry_after_ms": 0, "windows": [minute, hour],
    });
    assert_eq!(answer.json(), told);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-ratelimit-limit"), Some("2"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("1"));
    assert!((64..=67).contains(&seconds_until(answer.header("x-ratelimit-reset").unwrap())), "{answer:?}");
    assert_eq!(answer.header("retry-after"), None);
}

#[tokio::test]
async fn a_call_that_may_not_is_told_when_to_come_back() {
    let server = Server::with(SETTINGS);

    let answer = check(&server, json!({ "subject": "user:42", "tier": "closed" })).await;

    assert_eq!(answer.problem(), (429, "quota-exceeded".into()));
    let minute = json!({ "limit": 0, "window_ms": 60_000, "remaining": 0, "reset_after_ms": 60_000 });
    let told = json!({
        "type": "https://forebay.dev/problems/quota-exceeded",
        "title": "Nothing is left of a quota", "status": 429, "detail": "the limit of 0 in 60s is reached",
        "request_id": answer.header("x-request-id"), "retry_after": 60,
        "allowed": false, "policy": "api", "tier": "closed", "limit": 0, "remaining": 0,
        "reset_after_ms": 60_000, "retry_after_ms": 60_000, "windows": [minute],
    });
    assert_eq!(answer.json(), told);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("retry-after"), Some("60"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
}

#[tokio::test]
async fn nobody_is_asked_back_at_once() {
    let server = Server::with("[limits.api.tiers]\nfree = [\"1/30ms\"]");
    let refused = async || {
        loop {
            let answer = check(&server, json!({ "subject": "a" })).await;
            if answer.status == 429 {
                return answer;
            }
        }
    };
    let answer = refused().await;
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!((1..=33).contains(&answer.json()["retry_after_ms"].as_u64().unwrap()), "{answer:?}");
}

#[tokio::test]
async fn a_refused_call_takes_nothing() {
    let server = Server::with(SETTINGS);
    for (cost, status, remaining) in [(2, 200, 98), (1, 429, 98), (3, 422, 98), (0, 200, 98)] {
        let answer = check(&server, json!({ "subject": "a", "cost": cost })).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let left = Answered::to(server.get(&format!("{API}/a"))).await.json();
        assert_eq!(left["windows"][1]["remaining"], remaining, "{left}");
    }
}

#[tokio::test]
async fn a_cost_that_never_fits_is_not_told_to_come_back() {
    let server = Server::with(SETTINGS);

    let answer = check(&server, json!({ "subject": "a", "cost": 3 })).await;

    assert_eq!(answer.problem(), (422, "never-fits".into()));
    let json = answer.json();
    assert_eq!(
        (&json["allowed"], &json["limit"], &json["retry_after_ms"]),
        (&json!(false), &json!(2), &Value::Null)
    );
    assert_eq!(answer.header("retry-after"), None);
}

#[tokio::test]
async fn a_tier_without_a_limit_has_no_figures() {
    let server = Server::with(SETTINGS);

    let answer = check(&server, json!({ "subject": "a", "tier": "internal", "cost": 1_u64 << 60 })).await;

    let told = json!({
        "allowed": true, "policy": "api", "tier": "internal", "limit": null, "remaining": null,
        "reset_after_ms": null, "retry_after_ms": 0, "windows": [],
    });
    assert_eq!((answer.status, answer.json()), (200, told));
    assert_eq!(answer.header("x-ratelimit-limit"), None);
}

#[tokio::test]
async fn a_look_takes_nothing_and_is_answered_whatever_is_left() {
    let server = Server::with(SETTINGS);
    let look = async |tier: &str| Answered::to(server.get(&format!("{API}/a{tier}"))).await;

    for _ in 0..3 {
        let answer = look("").await;
        assert_eq!((answer.status, &answer.json()["remaining"]), (200, &json!(2)));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("2"));
    }
    let closed = look("?tier=closed").await;
    assert_eq!((closed.status, &closed.json()["allowed"]), (200, &json!(false)));
    assert_eq!(closed.header("retry-after"), None);
}

#[tokio::test]
async fn a_reset_gives_the_whole_quota_back() {
    let server = Server::with(SETTINGS);
    assert_eq!(check(&server, json!({ "subject": "a", "cost": 2 })).await.status, 200);
    assert_eq!(check(&server, json!({ "subject": "a" })).await.status, 429);

    assert_eq!(Answered::to(server.delete(&format!("{API}/a"))).await.status, 204);

    assert_eq!(check(&server, json!({ "subject": "a", "cost": 2 })).await.status, 200);
}

#[tokio::test]
async fn an_unknown_policy_is_refused_with_the_names_of_the_others() {
    let server = Server::with("[limits.sign-in]");
    let asked = [
        server.post("/v1/limits/none", r#"{"subject":"a"}"#),
        server.get("/v1/limits/none/a"),
        server.delete("/v1/limits/none/a"),
    ];
    for request in asked {
        let answer = Answered::to(request).await;
        assert_eq!(answer.problem(), (404, "unknown-policy".into()));
        for name in ["`none`", "`api`, `sign-in`"] {
            assert!(answer.body.contains(name), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn the_policy_that_is_there_without_settings_has_four_tiers() {
    let server = Server::start();
    for (tier, minute, hour) in
        [("free", 10, 100), ("basic", 30, 500), ("pro", 60, 2_000), ("default", 60, 1_000)]
    {
        let told = check(&server, json!({ "subject": tier, "tier": tier, "cost": 0 })).await.json();
        assert_eq!(
            (&told["windows"][0]["limit"], &told["windows"][1]["limit"]),
            (&json!(minute), &json!(hour))
        );
        assert_eq!(told["tier"], tier);
    }
    let unknown = check(&server, json!({ "subject": "a", "tier": "gold" })).await.json();
    assert_eq!(unknown["tier"], "free");
}

#[tokio::test]
async fn subjects_of_every_kind_are_kept_apart() {
    let server = Server::with(SETTINGS);
    let subjects =
        ["", "{", "}", "{a}", "a/b", "%", "%25", "a b", "user:42", "key:42", "42", "ä", ".", "..", "*"];
    for (number, subject) in subjects.iter().enumerate() {
        let tier = if number % 2 == 0 { "free" } else { "internal" };
        let answer = check(&server, json!({ "subject": subject, "tier": tier, "cost": 2 })).await;
        assert_eq!(answer.status, 200, "{subject:?}");
    }
    for (number, subject) in
        subjects.iter().enumerate().filter(|(_, subject)| !["", ".", ".."].contains(subject))
    {
        let path = percent_encoding::utf8_percent_encode(subject, percent_encoding::NON_ALPHANUMERIC);
        let left = Answered::to(server.get(&format!("{API}/{path}"))).await.json();
        assert_eq!(left["remaining"], if number % 2 == 0 { 0 } else { 2 }, "{subject:?}");
    }
}

#[tokio::test]
async fn bodies_and_queries_that_cannot_be_read_are_refused_by_name() {
    let server = Server::start();
    let refused = [
        ("", "`subject`"),
        ("{}", "`subject`"),
        (r#"{"subject":5}"#, "`subject`"),
        (r#"{"subject":"a","cost":-1}"#, "`cost`"),
        (r#"{"subject":"a","cost":1.5}"#, "`cost`"),
        (r#"{"subject":"a","cost":"1"}"#, "`cost`"),
        (r#"{"subject":"a","policy":"api"}"#, "`policy`"),
        ("[]", "a JSON object"),
    ];
    for (body, named) in refused {
        let answer = Answered::to(server.post(API, body)).await;
        assert_eq!(answer.problem(), (400, "invalid-body".into()), "{body}");
        assert!(answer.body.contains(named), "{body}: {answer:?}");
    }
    for request in [server.get(&format!("{API}/a?teir=b")), server.delete(&format!("{API}/a?tier=b"))] {
        assert_eq!(Answered::to(request).await.problem(), (400, "invalid-query".into()));
    }
}

//! Claims: names that one caller takes for a time, over memory and over Redis.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::support::{Answered, Server, Stage};

const CLAIM: &str = "/v1/claims/sign-up:a@example.org";
const OWN: &str = "0123456789abcdef0123456789abcdef";

async fn claim(server: &Server, body: Value) -> Answered {
    Answered::to(server.post(CLAIM, body.to_string())).await
}

async fn give_back(server: &Server, token: &str) -> Answered {
    Answered::to(server.delete(CLAIM).header("forebay-token", token)).await
}

#[tokio::test]
async fn one_claims_a_name_and_all_others_are_told_when_to_come_back() {
    for stage in Stage::each().await {
        let first = claim(&stage.here, json!({ "ttl_ms": 60_000 })).await;
        assert_eq!((first.status, &first.json()["ttl_ms"]), (201, &json!(60_000)));

        let refused = claim(&stage.there, json!({ "ttl_ms": 60_000 })).await;

        assert_eq!(refused.problem(), (409, "taken".into()));
        let left = refused.json()["retry_after_ms"].as_u64().unwrap();
        assert!((50_000..=60_000).contains(&left), "{left}");
        assert_eq!(refused.header("retry-after"), Some(&*left.div_ceil(1_000).to_string()));
    }
}

#[tokio::test]
async fn of_a_hundred_who_claim_a_name_at_once_one_has_it() {
    for stage in Stage::each().await {
        let servers = [stage.here.clone(), stage.there.clone()];
        let mut callers = JoinSet::new();
        for caller in 0..100 {
            let server = Arc::clone(&servers[caller % 2]);
            callers.spawn(async move { claim(&server, json!({ "ttl_ms": 60_000 })).await.status });
        }
        let mut statuses = callers.join_all().await;
        statuses.sort_unstable();
        assert_eq!((statuses[0], &statuses[1..]), (201, &[409; 99][..]));
    }
}

#[tokio::test]
async fn a_claim_is_given_back_by_its_token_alone() {
    for stage in Stage::each().await {
        let first = claim(&stage.here, json!({ "ttl_ms": 60_000 })).await.json();
        let token = first["token"].as_str().unwrap();

        assert_eq!(give_back(&stage.there, OWN).await.problem(), (409, "not-the-holder".into()));
        assert_eq!(claim(&stage.there, json!({ "ttl_ms": 1 })).await.status, 409);
        assert_eq!(give_back(&stage.there, token).await.status, 204);
        assert_eq!(give_back(&stage.there, token).await.problem(), (409, "not-the-holder".into()));
        assert_eq!(claim(&stage.here, json!({ "ttl_ms": 60_000 })).await.status, 201);
    }
}

#[tokio::test]
async fn a_retry_under_ones_own_token_has_the_claim_still() {
    for stage in Stage::each().await {
        for server in [&stage.here, &stage.there] {
            let answer = claim(server, json!({ "ttl_ms": 60_000, "token": OWN })).await;
            assert_eq!((answer.status, &answer.json()["token"]), (201, &json!(OWN)));
        }
        assert_eq!(claim(&stage.here, json!({ "ttl_ms": 60_000 })).await.status, 409);
    }
}

#[tokio::test]
async fn a_retry_under_ones_own_token_is_told_what_is_left_and_prolongs_nothing() {
    for stage in Stage::each().await {
        assert_eq!(
            claim(&stage.here, json!({ "ttl_ms": 5_000, "token": OWN })).await.json()["ttl_ms"],
            5_000
        );
        let again = claim(&stage.there, json!({ "ttl_ms": 86_400_000, "token": OWN })).await;
        let left = again.json()["ttl_ms"].as_u64().unwrap();
        assert!((1..=5_000).contains(&left), "{left}");
        let refused = claim(&stage.here, json!({ "ttl_ms": 1 })).await.json()["retry_after_ms"].as_u64();
        assert!(refused.unwrap() <= left, "{refused:?} of {left}");
    }
}

#[tokio::test]
async fn what_stays_for_ever_under_a_key_is_named() {
    let stage = Stage::redis("").await;
    let redis = stage.redis.as_ref().unwrap();
    for (path, key) in [(CLAIM, "claim:forebay:{sign-up:a@example.org}"), ("/v1/locks/a", "lock:forebay:{a}")]
    {
        redis.call(&["SET", key, "theirs"]);
        for body in [r#"{"ttl_ms":1000}"#.to_owned(), format!(r#"{{"ttl_ms":1000,"token":"{OWN}"}}"#)] {
            let refused = Answered::to(stage.here.post(path, body)).await;
            assert_eq!(refused.problem(), (500, "foreign-key".into()));
            assert!(refused.body.contains(key), "{refused:?}");
            assert_eq!(refused.header("retry-after"), None);
        }
        assert_eq!(stage.here.log().matches(key).count(), 1, "{}", stage.here.log());
        redis.call(&["DEL", key]);
    }
}

#[tokio::test]
async fn a_claim_ends_with_its_life() {
    for stage in Stage::each().await {
        assert_eq!(claim(&stage.here, json!({ "ttl_ms": 100 })).await.status, 201);
        sleep(Duration::from_millis(300)).await;
        assert_eq!(claim(&stage.there, json!({ "ttl_ms": 100 })).await.status, 201);
    }
}

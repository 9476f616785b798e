//! `forebay unlock`, and `DELETE /ops/locks/{name}`.

use super::ask;
use crate::support::{Answered, Stage};

const LOCK: &str = "/v1/locks/plan%2042";

#[tokio::test]
async fn a_lock_is_taken_from_its_holder_who_is_told_and_passed() {
    for stage in Stage::each().await {
        let held = Answered::to(stage.here.post(LOCK, r#"{"ttl_ms": 60000}"#)).await.json();
        let token = held["token"].as_str().unwrap();

        let said = ask(&stage.there, &["unlock", "plan 42"]);
        assert_eq!(
            (said.code, said.out.as_str()),
            (Some(0), "plan 42 was taken from its holder\n"),
            "{said:?}"
        );

        let next = Answered::to(stage.there.post(LOCK, "")).await.json();
        assert!(next["fence"].as_u64() > held["fence"].as_u64(), "{next} {held}");
        let renewal = stage.here.request("PATCH", LOCK).header("forebay-token", token).body("{}");
        assert_eq!(Answered::to(renewal).await.problem(), (409, "not-the-holder".into()));
    }
}

#[tokio::test]
async fn what_nobody_holds_is_told_so() {
    for stage in Stage::each().await {
        let said = ask(&stage.here, &["unlock", "plan", "--json"]);
        assert_eq!(said.json(), serde_json::json!({ "name": "plan", "released": false }));
        assert_eq!(said.code, Some(0));
    }
}

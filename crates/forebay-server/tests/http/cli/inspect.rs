//! `forebay inspect`.

use forebay_rig::Redis;

use super::ask;
use crate::support::{Answered, Server, Stage};

async fn put(server: &Server, query: &str, value: &str) {
    let path = format!("/v1/cache/catalog/p-001?ttl_ms=60000{query}");
    let put = server.put(&path, value.to_owned()).header("content-type", "text/plain");
    assert_eq!(Answered::to(put).await.status, 204);
}

#[tokio::test]
async fn a_value_is_shown_on_both_levels_with_its_tags() {
    for stage in Stage::each().await {
        put(&stage.here, "&stale_ms=600000&tag=brand%3A7&tag=red", "hello").await;
        assert_eq!(Answered::to(stage.here.get("/v1/cache/catalog/p-001")).await.status, 200);
        assert_eq!(
            Answered::to(stage.here.post("/v1/invalidate/catalog", r#"{"tags":["red"]}"#)).await.status,
            204
        );

        let told = ask(&stage.here, &["inspect", "catalog", "p-001", "--json"]).json();
        let store = &told["store"];
        assert_eq!((&store["state"], &store["age"]), (&"entry".into(), &"fresh".into()), "{told}");
        assert_eq!((&store["value_bytes"], &store["content_type"]), (&5.into(), &"text/plain".into()));
        assert!((1..=60_000).contains(&store["fresh_for_ms"].as_u64().unwrap()), "{told}");
        assert_eq!(store["stale_for_ms"], 600_000);
        let tags = serde_json::json!([{"tag": "brand:7", "current": true}, {"tag": "red", "current": false}]);
        assert_eq!((&store["tags"], &store["current"]), (&tags, &false.into()));
        assert!(store.get("value").is_none(), "{told}");
        assert_eq!((&told["lease"], &told["under_way"]), (&serde_json::Value::Null, &false.into()));
    }
}

#[tokio::test]
async fn people_read_it_in_lines_and_the_value_only_if_they_ask() {
    let server = Server::start();
    put(&server, "&tag=red", "a\u{1b}[31mb\nsecond").await;
    assert_eq!(Answered::to(server.get("/v1/cache/catalog/p-001")).await.status, 200);
    let said = ask(&server, &["inspect", "catalog", "p-001"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for named in
        ["catalog p-001", "the value, in use for", "fresh for 59 s", "of value, text/plain", "red", "free"]
    {
        assert!(said.out.contains(named), "{named}: {}", said.out);
    }
    assert!(
        !said.out.contains("second") && said.out.lines().all(|line| line.chars().count() <= 80),
        "{}",
        said.out
    );
    let said = ask(&server, &["inspect", "catalog", "p-001", "--value"]);
    assert!(said.out.ends_with("\n\na\\u{1b}[31mb\nsecond\n"), "{}", said.out);
}

#[tokio::test]
async fn who_loads_is_shown_without_its_token() {
    let server = Server::start();
    let lease = Answered::to(server.post("/v1/cache/catalog/p-002/lease", "")).await.lease();
    let told = ask(&server, &["inspect", "catalog", "p-002", "--json"]).json();
    assert_eq!(
        (&told["store"]["state"], &told["lease"]["state"]),
        (&"nothing".into(), &"held".into()),
        "{told}"
    );
    let holder = told["lease"]["holder"].as_str().unwrap();
    assert!(holder.len() == 8 && lease.starts_with(holder), "{holder} {lease}");
    let said = ask(&server, &["inspect", "catalog", "p-002"]);
    assert!(
        said.out.contains(&format!("by the token {holder}…")) && !said.out.contains(&lease),
        "{}",
        said.out
    );
}

#[tokio::test]
async fn what_a_server_does_not_know_is_nothing_and_what_no_path_carries_is_refused() {
    let server = Server::start();
    let told = ask(&server, &["inspect", "never:named", "a/b {c}", "--json"]).json();
    assert_eq!((&told["store"]["state"], &told["id"]), (&"nothing".into(), &"a/b {c}".into()));
    assert_eq!(ask(&server, &["inspect", "Not a name", "a"]).code, Some(2));
    assert_eq!(ask(&server, &["inspect", "a", ".."]).code, Some(2));
}

#[tokio::test]
async fn a_store_that_cannot_be_asked_is_told_and_exits_with_1() {
    let redis = Redis::start();
    let server = Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "");
    redis.kill();
    let said = ask(&server, &["inspect", "catalog", "p-001"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("cannot be asked"), "{}", said.out);
}

#[tokio::test]
async fn what_others_have_written_under_a_key_is_called_foreign() {
    let redis = Redis::start();
    let server = Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "");
    put(&server, "", "hello").await;
    let key = |id: &str| format!("cache:forebay:catalog:v1:{{{id}}}");
    redis.call(&["HSET", &key("hash"), "f", "v"]);
    redis.call(&["SET", &key("endless"), "by hand"]);
    redis.call(&["SET", &key("text"), "by hand", "PX", "60000"]);
    for (id, reason, bytes, told) in [
        ("hash", "foreign_type", 0, "no string, which no server has written (foreign key)"),
        ("endless", "no_expiry", 7, "7 bytes without an expiry, which no server has written (foreign key)"),
        ("text", "magic", 7, "7 bytes that no server of this version can read (magic)"),
    ] {
        let store = ask(&server, &["inspect", "catalog", id, "--json"]).json()["store"].clone();
        assert_eq!(
            (&store["state"], &store["reason"], &store["bytes"]),
            (&"unreadable".into(), &reason.into(), &bytes.into()),
            "{store}"
        );
        let said = ask(&server, &["inspect", "catalog", id]);
        assert!(said.out.contains(told), "{}", said.out);
    }
}

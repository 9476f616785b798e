//! Many ids of one space in one request: each is answered as by the call for it alone.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{Answered, Server, Stage};

const BATCH: &str = "/v1/batch/cache/many";

async fn batch(server: &Server, body: Value) -> Vec<Value> {
    let answer = Answered::to(server.post(BATCH, body.to_string())).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json().as_array().unwrap().clone()
}

fn statuses(answers: &[Value]) -> Vec<u64> {
    answers.iter().map(|answer| answer["status"].as_u64().unwrap()).collect()
}

fn kind(answer: &Value) -> &str {
    answer["type"].as_str().unwrap().rsplit('/').next().unwrap()
}

#[tokio::test]
async fn values_are_put_and_got_and_invalidated_under_ids_that_no_path_can_have() {
    for stage in Stage::each().await {
        let server = &*stage.here;
        let ids = ["", ".", "..", "{", "a/b", "ä", "日本", "%"];
        let items = |with: fn(usize, &str) -> Value| -> Vec<Value> {
            ids.iter().enumerate().map(|(n, id)| with(n, id)).collect()
        };
        // "AAEC/w==" is no text.
        let puts = items(
            |n, id| json!({ "id": id, "value": "AAEC/w==", "ttl_ms": 60_000 + n, "content_type": "a/b" }),
        );
        assert_eq!(statuses(&batch(server, json!({ "put": puts })).await), [204; 8]);
        for _ in 0..2 {
            let got = batch(server, json!({ "get": items(|_, id| json!({ "id": id })) })).await;
            for (answer, id) in got.iter().zip(ids) {
                let told = [&answer["id"], &answer["status"], &answer["value"], &answer["content_type"]];
                assert_eq!(json!(told), json!([id, 200, "AAEC/w==", "a/b"]));
                assert_eq!((&answer["forebay_cache"], &answer["age"]), (&json!("HIT"), &json!(0)));
            }
        }
        let single = Answered::to(server.get("/v1/cache/many/a%2Fb")).await;
        assert_eq!((single.status, single.header("content-type")), (200, Some("a/b")));
        let gone = batch(server, json!({ "invalidate": items(|_, id| json!({ "id": id })) })).await;
        assert_eq!(statuses(&gone), [204; 8]);
        let got = batch(server, json!({ "get": items(|_, id| json!({ "id": id })) })).await;
        assert!(got.iter().all(|answer| kind(answer) == "cache-miss" && answer["status"] == 404), "{got:?}");
    }
}

#[tokio::test]
async fn leases_are_granted_renewed_filled_and_given_back() {
    for stage in Stage::each().await {
        let server = &*stage.here;
        let ids = ["a", "b", "c"].map(|id| json!({ "id": id, "wait_ms": 0, "lease_ms": 9_000 }));
        let granted = batch(server, json!({ "lease": ids })).await;
        assert_eq!(statuses(&granted), [201; 3]);
        assert!(granted.iter().all(|answer| answer["lease_ms"] == 9_000), "{granted:?}");
        let busy = batch(server, json!({ "lease": ids })).await;
        assert_eq!(
            (statuses(&busy), kind(&busy[0]), &busy[0]["retry_after"]),
            (vec![409; 3], "busy", &json!(1))
        );
        let token = |n: usize| granted[n]["lease"].clone();

        let renewed = batch(
            server,
            json!({ "renew": [
            { "id": "a", "lease": token(0), "lease_ms": 20_000 }, { "id": "b", "lease": token(0) },
        ] }),
        )
        .await;
        assert_eq!((statuses(&renewed), &renewed[0]["lease_ms"]), (vec![200, 409], &json!(20_000)));
        let filled = batch(
            server,
            json!({ "fill": [
            { "id": "a", "lease": token(0), "value": "QQ==", "ttl_ms": 60_000 },
            { "id": "b", "lease": token(1), "absent": true, "ttl_ms": 60_000 },
            { "id": "c", "lease": token(1), "value": "Qw==", "ttl_ms": 60_000 },
        ] }),
        )
        .await;
        assert_eq!((statuses(&filled), kind(&filled[2])), (vec![204, 204, 409], "lease-lost"));
        let released = batch(
            server,
            json!({ "release": [
            { "id": "c", "lease": token(2), "failed": true }, { "id": "a", "lease": token(0) },
        ] }),
        )
        .await;
        assert_eq!(statuses(&released), [204, 409]);

        let found = batch(server, json!({ "lease": ids })).await;
        assert_eq!(statuses(&found), [200, 404, 503]);
        assert_eq!(
            (&found[0]["value"], kind(&found[1]), kind(&found[2])),
            (&json!("QQ=="), "cached-absence", "load-failed")
        );
    }
}

#[tokio::test]
async fn what_is_wrong_with_one_item_is_told_in_its_place() {
    let server = Server::with("[cache.spaces.many]\nmax_bytes = 4");
    let answers = batch(
        &server,
        json!({ "put": [
        { "id": "a", "value": "QQ==", "ttl_ms": 60_000 },
        { "id": "a", "value": "Qg==", "ttl_ms": 60_000 },
        { "id": "b", "value": "no!", "ttl_ms": 60_000 },
        { "id": "c", "value": "QQ==" },
        { "id": "d", "ttl_ms": 60_000 },
        { "id": "e", "value": "QUFBQUE=", "ttl_ms": 60_000 },
        { "id": "f", "value": "QQ==", "ttl_ms": 60_000, "content_type": "text" },
        { "id": "g", "value": "QQ==", "ttl_ms": 60_000, "lease": "x" },
        { "id": "h", "not_modified": true, "ttl_ms": 60_000 },
        { "value": "QQ==" },
        "i",
    ] }),
    )
    .await;
    assert_eq!(statuses(&answers), [204, 400, 400, 400, 400, 413, 400, 400, 400, 400, 400]);
    assert_eq!(kind(&answers[3]), "no-time-to-live");
    let named =
        [(1, "`[1].id`"), (2, "`value`"), (4, "`value`"), (6, "`content_type`"), (7, "`lease`"), (9, "`id`")];
    for (place, name) in named {
        assert!(answers[place]["detail"].as_str().unwrap().contains(name), "{}", answers[place]);
    }
    let got = batch(&server, json!({ "get": [{ "id": "a" }] })).await;
    assert_eq!(got[0]["value"], "QQ==");
}

#[tokio::test]
async fn a_body_that_is_no_call_is_refused_with_the_calls_there_are() {
    let server = Server::start();
    let thousand: Vec<_> = (0..1_001).map(|n| json!({ "id": n.to_string() })).collect();
    for body in [
        json!({}),
        json!([]),
        json!({ "get": [] }),
        json!({ "get": {} }),
        json!({ "got": [{ "id": "a" }] }),
        json!({ "get": [{ "id": "a" }], "put": [] }),
        json!({ "get": thousand }),
    ] {
        let answer = Answered::to(server.post(BATCH, body.to_string())).await;
        assert_eq!(answer.problem(), (400, "invalid-body".into()), "{body}");
    }
    let whole: Vec<_> = thousand[..1_000].to_vec();
    assert_eq!(batch(&server, json!({ "get": whole })).await.len(), 1_000);
}

#[tokio::test]
async fn an_answer_has_room_for_so_many_bytes() {
    let server = Server::start();
    let value = "A".repeat(1_398_100); // 1 MiB of zeros, almost
    for n in 0..20 {
        let item = json!({ "id": n.to_string(), "value": value, "ttl_ms": 60_000 });
        assert_eq!(statuses(&batch(&server, json!({ "put": [item] })).await), [204]);
    }
    let ids: Vec<_> = (0..20).map(|n| json!({ "id": n.to_string() })).collect();
    let answers = batch(&server, json!({ "get": ids })).await;
    assert_eq!(statuses(&answers), [vec![200; 16], vec![413; 4]].concat());
}

async fn stale(server: &Server, query: &str) -> (String, String) {
    Answered::to(server.put(&format!("/v1/cache/many/id?ttl_ms=100&stale_ms=60000{query}"), "old")).await;
    sleep(Duration::from_millis(300)).await;
    let mine = Answered::to(server.post("/v1/cache/many/id/lease", r#"{"wait_ms":0}"#)).await;
    assert_eq!((mine.status, mine.body.as_str()), (200, "old"));
    (mine.header("forebay-lease").unwrap().to_owned(), mine.header("content-type").unwrap().to_owned())
}

async fn not_modified(server: &Server, token: &str) -> Answered {
    let path = "/v1/cache/many/id/lease?not_modified=1&ttl_ms=60000";
    Answered::to(server.put(path, "").header("forebay-lease", token)).await
}

#[tokio::test]
async fn a_holder_has_the_stale_value_fresh_again_with_its_tags() {
    for stage in Stage::each().await {
        let server = &*stage.here;
        let (token, _) = stale(server, "&tag=all").await;
        assert_eq!(not_modified(server, &token).await.status, 204);
        let fresh = Answered::to(server.get("/v1/cache/many/id")).await;
        assert_eq!((fresh.body.as_str(), fresh.header("forebay-cache")), ("old", Some("HIT")));
        assert_eq!(not_modified(server, &token).await.problem(), (409, "lease-lost".into()));
        Answered::to(server.post("/v1/invalidate/many", r#"{"tags":["all"]}"#)).await;
        assert_eq!(Answered::to(server.get("/v1/cache/many/id")).await.status, 404);
    }
}

#[tokio::test]
async fn what_was_invalidated_meanwhile_cannot_be_kept() {
    for stage in Stage::each().await {
        let server = &*stage.here;
        for (path, body) in [
            ("/v1/invalidate/many", r#"{"ids":["id"]}"#),
            ("/v1/invalidate/many", r#"{"tags":["all"]}"#),
            ("/v1/clear/many", ""),
        ] {
            let (token, _) = stale(server, "&tag=all").await;
            assert_eq!(Answered::to(server.post(path, body)).await.status, 204);
            let refused = not_modified(server, &token).await;
            assert_eq!(refused.problem(), (409, "no-stale-value".into()), "{path} {body}");
            assert_eq!(Answered::to(server.get("/v1/cache/many/id")).await.status, 404);
            let give_back =
                server.request("DELETE", "/v1/cache/many/id/lease").header("forebay-lease", &token);
            Answered::to(give_back).await;
        }
    }
}

//! Many checks at once, and the list of whose limits are in use.

use serde_json::{Value, json};

use crate::support::{Answered, Server};

const SETTINGS: &str = "[limits.api.tiers]\nfree = [\"2/minute\", \"100/hour\"]\nclosed = [\"0/minute\"]";

async fn batch(server: &Server, items: Value) -> Answered {
    Answered::to(server.post("/v1/batch/limits", items.to_string())).await
}

#[tokio::test]
async fn each_item_is_answered_in_its_place_as_if_it_were_alone() {
    let server = Server::with(SETTINGS);
    let items = json!([
        { "policy": "api", "subject": "a", "cost": 2 },
        { "policy": "api", "subject": "", "tier": "free" },
        { "policy": "api", "subject": "c", "tier": "closed" },
        { "policy": "api", "subject": "d", "cost": 3 },
        { "policy": "none", "subject": "e" },
        { "policy": "api", "subject": "f", "cst": 3 },
        ["api", "g"],
        { "policy": "api" },
    ]);

    let answer = batch(&server, items).await;

    assert_eq!(answer.status, 200);
    let minute = json!({ "limit": 2, "window_ms": 60_000, "remaining": 0, "reset_after_ms": 66_000 });
    let hour = json!({ "limit": 100, "window_ms": 3_600_000, "remaining": 98, "reset_after_ms": 3_960_000 });
    let first = json!({
        "allowed": true, "policy": "api", "tier": "free", "limit": 2, "remaining": 0,
        "reset_after_ms": 66_000, "retry_after_ms": 0, "windows": [minute, hour],
    });
    let told = answer.json();
    assert_eq!(told[0], first);
    assert_eq!((&told[1]["allowed"], &told[1]["remaining"]), (&json!(true), &json!(1)));
    assert_eq!((&told[2]["allowed"], &told[2]["retry_after_ms"]), (&json!(false), &json!(60_000)));
    let statuses: Vec<_> = told.as_array().unwrap().iter().map(|item| item["status"].clone()).collect();
    assert_eq!(json!(statuses), json!([null, null, 429, 422, 404, 400, 400, 400]));
    for (index, named) in [(5, "`[5].cst`"), (6, "`[6]`"), (7, "`subject`")] {
        assert!(told[index]["detail"].as_str().unwrap().contains(named), "{}", told[index]);
    }
    assert_eq!(told[7]["request_id"].as_str(), answer.header("x-request-id"));
}

#[tokio::test]
async fn a_thousand_items_are_taken_and_no_more() {
    let server = Server::start();
    let items =
        |number: usize| json!(vec![json!({ "policy": "api", "subject": "a", "tier": "pro" }); number]);

    let answer = batch(&server, items(1_000)).await;
    let told = answer.json();
    let allowed: Vec<_> = told.as_array().unwrap().iter().map(|item| item["allowed"] == true).collect();
    // The first ones, as the items of one subject are decided in order.
    assert_eq!((answer.status, allowed), (200, [vec![true; 60], vec![false; 940]].concat()));

    assert_eq!(batch(&server, items(1_001)).await.problem(), (400, "invalid-body".into()));
    assert_eq!(batch(&server, json!([])).await.json(), json!([]));
    assert_eq!(batch(&server, json!({})).await.problem(), (400, "invalid-body".into()));
    let huge = "[".to_owned() + &" ".repeat(1 << 20) + "]";
    assert_eq!(
        Answered::to(server.post("/v1/batch/limits", huge)).await.problem(),
        (413, "too-large".into())
    );
}

#[tokio::test]
async fn those_whose_limits_are_in_use_are_listed() {
    let server = Server::with(SETTINGS);
    let stats = async || Answered::to(server.get("/rate-limit/stats")).await.json();
    assert_eq!(stats().await, json!({ "stats": [], "total_keys": 0, "truncated": false }));

    batch(&server, json!([{ "policy": "api", "subject": "user:{4 2}", "cost": 2 }])).await;

    let windows =
        json!([{ "window_ms": 60_000, "current_count": 2 }, { "window_ms": 3_600_000, "current_count": 2 }]);
    let listed = json!({
        "key": "rate_limit:forebay:api:{user:%7B4%202%7D}", "policy": "api", "subject": "user:%7B4%202%7D",
        "current_count": 2, "windows": windows,
    });
    assert_eq!(stats().await, json!({ "stats": [listed], "total_keys": 1, "truncated": false }));
}

#[tokio::test]
async fn at_most_a_hundred_are_listed_the_largest_first() {
    let server = Server::start();
    let items = |from: usize| {
        (from..from + 75)
            .map(|number| json!({ "policy": "api", "subject": number.to_string(), "cost": number % 7 + 1 }))
            .collect()
    };
    for from in [0, 75] {
        batch(&server, items(from)).await;
    }
    let stats = Answered::to(server.get("/rate-limit/stats")).await.json();
    let counts: Vec<_> = stats["stats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stat| stat["current_count"].as_u64().unwrap())
        .collect();
    assert_eq!((counts.len(), &stats["total_keys"]), (100, &json!(150)));
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] == 7, "{counts:?}");
}

#[tokio::test]
async fn figures_need_the_scope_read_and_checks_the_scope_data() {
    let hash = |token: &str| hex::encode(<sha2::Sha256 as sha2::Digest>::digest(token));
    let server = Server::with(&format!(
        "[auth]\ntokens = [{{ name = \"web\", sha256 = \"{}\", scopes = [\"data\"] }}, \
         {{ name = \"page\", sha256 = \"{}\", scopes = [\"read\"] }}]",
        hash("web"),
        hash("page")
    ));
    for (token, stats, checks) in [("Bearer page", 200, 403), ("Bearer web", 403, 200), ("", 401, 401)] {
        let with = |request: reqwest::RequestBuilder| Answered::to(request.header("authorization", token));
        assert_eq!(with(server.get("/rate-limit/stats")).await.status, stats);
        assert_eq!(with(server.post("/v1/batch/limits", "[]")).await.status, checks);
        assert_eq!(with(server.get("/v1/limits/api/a")).await.status, checks);
    }
}

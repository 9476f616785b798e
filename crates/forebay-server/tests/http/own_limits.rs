//! The server limits its own callers when it is told to.

use reqwest::RequestBuilder;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::{Answered, Server};

const SETTINGS: &str = "[server]\nlimit = \"callers\"\n[limits.callers.tiers]\nfree = [\"2/hour\"]\n\
                        default = [\"3/hour\"]\npro = [\"4/hour\"]\n";

/// As [`SETTINGS`], with two tokens.
fn with_tokens() -> String {
    let hash = |token: &str| hex::encode(Sha256::digest(token));
    format!(
        "{SETTINGS}[auth]\ntokens = [{{ name = \"web\", sha256 = \"{}\", scopes = [\"data\"] }}, \
         {{ name = \"shop\", sha256 = \"{}\", scopes = [\"data\"], tier = \"pro\" }}]",
        hash("web"),
        hash("shop")
    )
}

/// How many of ten such requests are not refused by the limit.
async fn passed(request: impl Fn() -> RequestBuilder) -> usize {
    let mut passed = 0;
    for _ in 0..10 {
        passed += usize::from(Answered::to(request()).await.status != 429);
    }
    passed
}

#[tokio::test]
async fn who_has_a_token_is_limited_by_it_and_everybody_else_by_address() {
    let server = Server::with(&with_tokens());
    let ask =
        |token: &'static str| server.get("/v1/cache/a/b").header("authorization", format!("Bearer {token}"));

    assert_eq!(passed(|| ask("web")).await, 3);
    assert_eq!(passed(|| ask("shop")).await, 4);
    assert_eq!(passed(|| ask("guessed")).await, 2);
    assert_eq!(passed(|| ask("guessed again")).await, 0);
}

#[tokio::test]
async fn a_caller_without_quota_is_told_so_in_a_problem() {
    let server = Server::with(SETTINGS);
    let ask = async || Answered::to(server.get("/v1/cache/a/b")).await;
    for remaining in ["1", "0"] {
        let answer = ask().await;
        assert_eq!((answer.status, answer.header("x-ratelimit-remaining")), (404, Some(remaining)));
    }

    let refused = ask().await;

    assert_eq!(refused.problem(), (429, "quota-exceeded".into()));
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    assert_eq!(refused.header("x-ratelimit-limit"), Some("2"));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 3_000, "{refused:?}");
    let json = refused.json();
    assert_eq!(json["request_id"].as_str(), refused.header("x-request-id"));
    assert_eq!(
        (&json["policy"], &json["tier"], &json["allowed"]),
        (&json!("callers"), &json!("free"), &json!(false))
    );
}

#[tokio::test]
async fn paths_that_do_not_exist_count_and_whether_it_is_alive_can_always_be_asked() {
    for path in ["/none", "/v1/cache/a/%zz"] {
        let server = Server::with(SETTINGS);
        assert_eq!(passed(|| server.get(path)).await, 2, "{path}");
        for open in ["/livez", "/readyz?verbose"] {
            assert_eq!(passed(|| server.get(open)).await, 10, "{open}");
        }
    }
}

#[tokio::test]
async fn the_policy_of_the_callers_is_not_theirs_to_reset() {
    let server = Server::with(&SETTINGS.replace("free = [\"2/hour\"]", "free = [\"9/hour\"]"));
    let asked = [
        server.post("/v1/limits/callers", r#"{"subject":"a"}"#),
        server.get("/v1/limits/callers/address:127.0.0.1"),
        server.delete("/v1/limits/callers/address:127.0.0.1"),
    ];
    for request in asked {
        let answer = Answered::to(request).await;
        assert_eq!(answer.problem(), (404, "unknown-policy".into()));
        assert!(answer.body.contains("own callers") && answer.body.contains("`api`"), "{answer:?}");
    }
    let batch =
        Answered::to(server.post("/v1/batch/limits", r#"[{"policy":"callers","subject":"a"}]"#)).await;
    assert_eq!(batch.json()[0]["status"], 404);
    let stats = Answered::to(server.get("/rate-limit/stats")).await.json();
    assert_eq!(stats["stats"][0]["key"], "rate_limit:forebay:callers:{address:127.0.0.1}");
}

#[tokio::test]
async fn an_answer_about_a_limit_shows_that_limit_and_not_the_callers_own() {
    let server = Server::with(SETTINGS);

    let answer = Answered::to(server.post("/v1/limits/api", r#"{"subject":"a","tier":"pro"}"#)).await;

    assert_eq!(answer.header("x-ratelimit-remaining"), Some("59"));
    let batch = Answered::to(server.post("/v1/batch/limits", "[]")).await;
    assert_eq!(batch.header("x-ratelimit-remaining"), Some("0"));
}

#[tokio::test]
async fn a_reload_raises_the_limit_of_the_callers() {
    let server = Server::with(SETTINGS);
    assert_eq!(passed(|| server.get("/v1/cache/a/b")).await, 2);

    server.reload(&SETTINGS.replace("2/hour", "5/hour"));

    assert_eq!(passed(|| server.get("/v1/cache/a/b")).await, 3);
}

#[tokio::test]
async fn a_reload_takes_no_tier_from_a_token_that_is_in_force() {
    let server = Server::with(&with_tokens());

    let said = server.reload(&with_tokens().replace("pro", "gold"));

    assert!(said.contains("nothing is changed") && said.contains("`auth.tokens[1].tier` is `pro`"), "{said}");
    let ask = || server.get("/v1/cache/a/b").header("authorization", "Bearer shop");
    assert_eq!(passed(ask).await, 4);
}

#[tokio::test]
async fn the_address_that_a_proxy_tells_counts_only_if_the_proxy_is_trusted() {
    let from = async |settings: &str| {
        let server = Server::with(settings);
        let ask = |address: &'static str| server.get("/v1/cache/a/b").header("x-forwarded-for", address);
        [passed(|| ask("203.0.113.1")).await, passed(|| ask("203.0.113.2")).await]
    };
    assert_eq!(from(SETTINGS).await, [2, 0]);
    let trusting = SETTINGS.replace("[server]", "[server]\ntrusted_proxies = [\"127.0.0.0/8\"]");
    assert_eq!(from(&trusting).await, [2, 2]);
}

#[tokio::test]
async fn the_headers_are_those_of_the_style_that_is_set() {
    let ask = async |style: &str| {
        let server = Server::with(&format!("[server]\nlimit_headers = \"{style}\""));
        Answered::to(server.post("/v1/limits/api", r#"{"subject":"a"}"#)).await
    };
    let draft = ask("draft-11").await;
    assert_eq!(draft.header("ratelimit-policy"), Some(r#""api-minute";q=10;w=60, "api-hour";q=100;w=3600"#));
    assert_eq!(draft.header("x-ratelimit-limit"), Some("10"));
    assert_eq!(ask("off").await.header("x-ratelimit-limit"), None);
}

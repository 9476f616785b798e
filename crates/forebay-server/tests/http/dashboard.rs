//! What stands behind the page: its files, its figures, and who may see them.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use crate::support::{Answered, Server};

/// Longer than the figures take to come, which is a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server with a token for each scope, called like it.
fn guarded() -> Server {
    let token = |name: &str| {
        let hash = hex::encode(Sha256::digest(name));
        format!("{{ name = \"{name}\", sha256 = \"{hash}\", scopes = [\"{name}\"] }}")
    };
    Server::with(&format!("[auth]\ntokens = [{}]", ["data", "read", "ops"].map(token).join(", ")))
}

async fn as_whom(server: &Server, method: &str, path: &str, token: &str) -> Answered {
    Answered::to(server.request(method, path).header("authorization", format!("Bearer {token}"))).await
}

/// The data of the first event called `now`.
async fn now(server: &Server) -> Value {
    let mut response = server.get("/dashboard/live").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut text = String::new();
    let frame = async {
        loop {
            text += str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap();
            if let Some((frame, _)) = text.split_once("\n\n") {
                return frame.to_owned();
            }
        }
    };
    let frame = timeout(PATIENCE, frame).await.expect("a frame a second");
    serde_json::from_str(frame.strip_prefix("event: now\ndata: ").unwrap()).unwrap()
}

#[tokio::test]
async fn the_page_is_open_and_may_load_nothing_from_elsewhere() {
    let server = guarded();
    for (path, media_type) in
        [("/", "text/html"), ("/dashboard/page.css", "text/css"), ("/dashboard/main.js", "text/javascript")]
    {
        let answer = Answered::to(server.get(path)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").unwrap().starts_with(media_type), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-cache"));

        let tag = answer.header("etag").unwrap().to_owned();
        let again = Answered::to(server.get(path).header("if-none-match", tag)).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_a_problem_and_so_is_a_token_in_the_address() {
    let server = Server::start();
    for path in ["/dashboard/none.js", "/dashboard/vendor/none.js", "/dashboard/..%2f..%2fsrc%2fmain.rs"] {
        assert_eq!(Answered::to(server.get(path)).await.problem(), (404, "not-found".into()), "{path}");
    }
    assert_eq!(Answered::to(server.get("/?token=secret")).await.problem(), (400, "invalid-query".into()));
}

#[tokio::test]
async fn the_figures_are_for_whoever_may_read() {
    let server = guarded();
    for path in ["/dashboard/history", "/dashboard/live"] {
        assert_eq!(Answered::to(server.get(path)).await.problem(), (401, "unauthorized".into()));
        for (token, status) in [("none", 401), ("data", 403), ("ops", 403), ("read", 200)] {
            let request = server.get(path).header("authorization", format!("Bearer {token}"));
            assert_eq!(request.send().await.unwrap().status(), status, "{path} {token}");
        }
    }
}

#[tokio::test]
async fn whoever_shows_a_token_learns_what_it_is_good_for() {
    let server = guarded();
    for scope in ["data", "read", "ops"] {
        let rights = as_whom(&server, "GET", "/dashboard/rights", scope).await.json();
        assert_eq!(rights, json!({ "name": scope, "scopes": [scope] }));
    }
    assert_eq!(
        as_whom(&server, "GET", "/dashboard/rights", "none").await.problem(),
        (401, "unauthorized".into())
    );
    let rights = Answered::to(Server::start().get("/dashboard/rights")).await.json();
    assert_eq!(rights, json!({ "name": null, "scopes": ["data", "read", "ops"] }));
}

#[tokio::test]
async fn operators_may_do_what_the_page_offers_and_readers_may_not() {
    let server = guarded();
    let calls = [("POST", "/v1/invalidate/a", 400), ("DELETE", "/v1/limits/api/user:1", 204)];
    for (method, path, passed) in calls {
        for token in ["ops", "data"] {
            assert_eq!(as_whom(&server, method, path, token).await.status, passed, "{method} {path} {token}");
        }
        let refused = as_whom(&server, method, path, "read").await;
        assert_eq!(refused.problem(), (403, "forbidden".into()));
        assert!(refused.body.contains("`data` or `ops`"), "{refused:?}");
    }
    assert_eq!(as_whom(&server, "GET", "/v1/limits/api/user:1", "ops").await.status, 403);
}

#[tokio::test]
async fn the_last_hour_and_each_second_have_the_same_columns() {
    let server = Server::start();

    let now = now(&server).await;
    let past = Answered::to(server.get("/dashboard/history")).await.json();

    let columns: Vec<_> =
        past["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let row = past["rows"][0].as_array().unwrap();
    assert_eq!(row.len(), 1 + columns.len());
    assert_eq!(now["row"].as_array().unwrap().len(), row.len());
    assert_eq!(now["totals"].as_object().unwrap().len(), columns.len());
    assert_eq!(now["store"], json!({ "kind": "memory", "usable": true, "reason": null, "hears": true }));
}

#[tokio::test]
async fn so_many_pages_may_be_open_and_one_that_is_closed_makes_room() {
    let server = Server::start();
    let mut pages = Vec::new();
    for _ in 0..64 {
        let page = server.get("/dashboard/live").send().await.unwrap();
        assert_eq!(page.status(), 200);
        pages.push(page);
    }
    let full = timeout(PATIENCE, Answered::to(server.get("/dashboard/live"))).await;
    let full = full.expect("a refusal, which has an end");
    assert_eq!(full.problem(), (503, "too-many-streams".into()));
    assert_eq!(full.header("retry-after"), Some("10"));

    pages.pop();

    let opens = async {
        while server.get("/dashboard/live").send().await.unwrap().status() != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, opens).await.expect("the place is free once the server has tried to write to it");
}

#[tokio::test]
async fn open_pages_do_not_hold_up_a_shutdown() {
    let mut server = Server::start();
    let mut page = server.get("/dashboard/live").send().await.unwrap();

    server.signal(nix::sys::signal::Signal::SIGTERM);

    let ends = async { while page.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
    timeout(PATIENCE, ends).await.expect("the stream ends");
    assert_eq!(server.ended(), Some(0));
}

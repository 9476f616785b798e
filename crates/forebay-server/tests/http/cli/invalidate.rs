//! `forebay invalidate`.

use std::{io::Write, process::Stdio};

use forebay_rig::Redis;

use super::{Said, ask, blocking};
use crate::support::{Answered, Server, command};

async fn put(server: &Server, id: &str, tag: &str) {
    let path = format!("/v1/cache/catalog/{id}?ttl_ms=60000{tag}");
    assert_eq!(Answered::to(server.put(&path, "value")).await.status, 204);
}

async fn has(server: &Server, id: &str) -> bool {
    Answered::to(server.get(&format!("/v1/cache/catalog/{id}"))).await.status == 200
}

#[tokio::test]
async fn ids_tags_and_patterns_are_forgotten() {
    let server = Server::start();
    for (id, tag) in [("a", ""), ("b", ""), ("c", "&tag=t"), ("d-1", ""), ("d-2", ""), ("e", "")] {
        put(&server, id, tag).await;
    }
    let said = ask(&server, &["invalidate", "catalog", "a", "b", "--tag", "t"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (Some(0), "catalog: 2 ids and 1 tag invalidated everywhere\n")
    );
    let said = ask(&server, &["invalidate", "catalog", "--matching", "d-*", "--json"]);
    let swept = serde_json::json!({ "invalidated": 2, "deferred": 0, "complete": true });
    let told =
        serde_json::json!({ "space": "catalog", "matching": "d-*", "swept": swept, "everywhere": true });
    assert_eq!((said.code, said.json()), (Some(0), told));
    let mut left = Vec::new();
    for id in ["a", "b", "c", "d-1", "d-2", "e"] {
        left.extend(has(&server, id).await.then_some(id));
    }
    assert_eq!(left, ["e"]);
}

#[tokio::test]
async fn what_redis_has_not_confirmed_exits_with_1() {
    let redis = Redis::start();
    let server = Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "");
    redis.kill();
    let said = ask(&server, &["invalidate", "catalog", "a"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.starts_with("catalog: 1 id invalidated deferred"), "{}", said.out);
}

#[tokio::test]
async fn a_search_that_ended_early_promises_nothing() {
    let redis = Redis::start();
    let server = Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "");
    put(&server, "a", "").await;
    redis.kill();
    let said = ask(&server, &["invalidate", "catalog", "--matching", "*"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("nobody goes on; do it again"), "{}", said.out);
}

#[tokio::test]
async fn ids_are_read_from_the_standard_input() {
    let server = Server::start();
    for id in ["a", "b", "-"] {
        put(&server, id, "").await;
    }
    let arguments = ["invalidate", "catalog", "-"];
    let said = typed(&server, &arguments, "a\n\n  b\n").await;
    assert_eq!(
        (said.code, said.out.as_str()),
        (Some(0), "catalog: 2 ids invalidated everywhere\n"),
        "{said:?}"
    );
    assert_eq!((has(&server, "a").await, has(&server, "-").await), (false, true));
    let said = typed(&server, &arguments, "\n").await;
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
}

/// What it says to this standard input.
async fn typed(server: &Server, arguments: &[&str], input: &'static str) -> Said {
    let mut command = command();
    command.args(arguments).env("FOREBAY_SERVER", format!("http://{}", server.address));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Said::of(&blocking(|| child.wait_with_output().unwrap()).await)
}

#[tokio::test]
async fn without_anything_named_or_with_both_it_is_wrong_usage() {
    let server = Server::start();
    put(&server, "a", "").await;
    for arguments in [&["invalidate", "catalog"][..], &["invalidate", "catalog", "a", "--matching", "b"]] {
        let said = ask(&server, arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
    }
    assert_eq!(ask(&server, &["invalidate", "catalog", "--matching", "[a"]).code, Some(2));
}

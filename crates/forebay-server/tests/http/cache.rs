//! Entries: read, put and invalidated.

use std::time::Duration;

use tokio::time::sleep;

use crate::support::{Answered, Server};

const ENTRY: &str = "/v1/cache/entries/id";

async fn put(server: &Server, query: &str, body: &'static str) -> Answered {
    Answered::to(server.put(&format!("{ENTRY}{query}"), body)).await
}

async fn get(server: &Server) -> Answered {
    Answered::to(server.get(ENTRY)).await
}

#[tokio::test]
async fn a_value_comes_back_with_its_content_type() {
    let server = Server::start();
    let put = server.put(&format!("{ENTRY}?ttl_ms=60000"), r#"{"a":1}"#);
    let put = Answered::to(put.header("content-type", "application/json; charset=utf-8")).await;
    assert_eq!((put.status, put.header("cache-status")), (204, Some("forebay;stored")));

    let answer = get(&server).await;

    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"a":1}"#));
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("age"), Some("0"));
    assert_eq!(answer.header("forebay-cache"), Some("HIT"));
    let status = answer.header("cache-status").unwrap();
    assert!(["forebay;hit;ttl=59;detail=L2", "forebay;hit;ttl=60;detail=L2"].contains(&status), "{status}");
}

#[tokio::test]
async fn the_second_read_is_served_from_process_memory() {
    let server = Server::start();
    put(&server, "?ttl_ms=60000", "value").await;
    get(&server).await;

    let answer = get(&server).await;

    assert!(answer.header("cache-status").unwrap().ends_with(";detail=L1"), "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
}

#[tokio::test]
async fn a_client_that_has_the_value_is_told_so() {
    let server = Server::start();
    put(&server, "?ttl_ms=60000", "value").await;
    let tag = get(&server).await.header("etag").unwrap().to_owned();
    assert!(tag.len() == 18 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");

    for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
        let answer = Answered::to(server.get(ENTRY).header("if-none-match", known)).await;
        assert_eq!(
            (answer.status, answer.body.as_str(), answer.header("etag")),
            (304, "", Some(tag.as_str()))
        );
    }
    put(&server, "?ttl_ms=60000", "value").await;
    let answer = Answered::to(server.get(ENTRY).header("if-none-match", tag)).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "value"));
}

#[tokio::test]
async fn a_head_is_a_get_without_its_body() {
    let server = Server::start();
    put(&server, "?ttl_ms=60000", "value").await;

    let answer = Answered::to(server.request("HEAD", ENTRY)).await;

    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    assert_eq!(answer.header("content-length"), Some("5"));
}

#[tokio::test]
async fn a_miss_says_so_and_takes_no_lease() {
    let server = Server::start();

    let answer = get(&server).await;

    assert_eq!(answer.problem(), (404, "cache-miss".into()));
    assert_eq!(answer.header("forebay-cache"), Some("MISS"));
    assert_eq!(answer.header("cache-status"), Some("forebay;fwd=miss"));
    assert_eq!(Answered::to(server.post(&format!("{ENTRY}/lease"), "")).await.status, 201);
}

#[tokio::test]
async fn no_cache_passes_by_the_cache() {
    let server = Server::start();
    put(&server, "?ttl_ms=60000", "value").await;

    let answer = Answered::to(server.get(ENTRY).header("cache-control", "max-age=0, No-Cache")).await;

    assert_eq!(answer.problem(), (404, "cache-miss".into()));
    assert_eq!(answer.header("forebay-cache"), Some("BYPASS"));
    assert_eq!(answer.header("cache-status"), Some("forebay;fwd=bypass"));
}

#[tokio::test]
async fn a_deleted_value_is_gone() {
    let server = Server::start();
    put(&server, "?ttl_ms=60000", "value").await;
    get(&server).await;

    assert_eq!(Answered::to(server.delete(ENTRY)).await.status, 204);

    assert_eq!(get(&server).await.status, 404);
}

#[tokio::test]
async fn an_absence_is_remembered_as_itself() {
    let server = Server::start();

    assert_eq!(put(&server, "?absent=1&ttl_ms=60000", "").await.status, 204);

    let answer = get(&server).await;
    assert_eq!(answer.problem(), (404, "cached-absence".into()));
    assert_eq!(answer.header("forebay-cache"), Some("HIT"));
}

#[tokio::test]
async fn lives_come_from_the_query_or_from_the_space() {
    let server = Server::with("[cache.spaces.entries]\ntime_to_live = \"1h\"\nabsent_for = \"1h\"");
    for query in ["", "?absent=1", "?ttl_ms=99999999999999999999", "?ttl_ms=1000&stale_ms=0"] {
        assert_eq!(put(&server, query, "").await.status, 204, "{query}");
    }
    for query in ["", "?absent=1"] {
        let answer = Answered::to(server.put(&format!("/v1/cache/other/id{query}"), "")).await;
        assert_eq!(answer.problem(), (400, "no-time-to-live".into()));
        assert!(answer.body.contains("ttl_ms") && answer.body.contains("cache.spaces"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_value_ends_with_its_life() {
    let server = Server::start();
    put(&server, "?ttl_ms=100", "value").await;

    sleep(Duration::from_millis(300)).await;

    assert_eq!(get(&server).await.problem(), (404, "cache-miss".into()));
}

#[tokio::test]
async fn a_stale_value_is_read_where_the_space_hands_such_out() {
    let server = Server::with("[cache.spaces.entries]\nrefresh = \"stale\"\nstale_for = \"1h\"");
    put(&server, "?ttl_ms=100", "value").await;
    sleep(Duration::from_millis(300)).await;

    let answer = get(&server).await;

    assert_eq!((answer.status, answer.header("forebay-cache")), (200, Some("STALE")));
    assert!(answer.header("cache-status").unwrap().starts_with("forebay;hit;ttl=0"), "{answer:?}");
}

#[tokio::test]
async fn a_value_may_be_as_large_as_its_space_says() {
    let server = Server::with("[cache.spaces.entries]\nmax_bytes = 4");
    assert_eq!(put(&server, "?ttl_ms=60000", "1234").await.status, 204);

    assert_eq!(put(&server, "?ttl_ms=60000", "12345").await.problem(), (413, "too-large".into()));
    let mebibytes = Answered::to(server.put("/v1/cache/other/id?ttl_ms=1000", vec![0; 5 << 20])).await;
    assert_eq!(mebibytes.problem(), (413, "too-large".into()));
    assert_eq!(get(&server).await.body, "1234");
}

#[tokio::test]
async fn names_that_clients_make_up_become_spaces_up_to_a_limit() {
    let server = Server::with("[cache.spaces.declared]");
    let put = |space: &str| server.put(&format!("/v1/cache/{space}/id?ttl_ms=60000"), "value");
    for number in 0..1_024 {
        assert_eq!(Answered::to(put(&format!("made-up-{number}"))).await.status, 204);
    }

    let answer = Answered::to(put("one-more")).await;

    assert_eq!(answer.problem(), (400, "too-many-spaces".into()));
    assert!(answer.body.contains("1024"), "{answer:?}");
    for known in ["made-up-7", "declared"] {
        assert_eq!(Answered::to(put(known)).await.status, 204);
    }
}

#[tokio::test]
async fn a_call_that_stores_nothing_makes_no_space() {
    let server = Server::start();
    let token = "0123456789abcdef0123456789abcdef";
    for number in 0..1_100 {
        let path = format!("/v1/cache/made-up-{number}/id");
        assert_eq!(Answered::to(server.get(&path)).await.problem(), (404, "cache-miss".into()));
        assert_eq!(Answered::to(server.delete(&path)).await.status, 204);
        let lease = server.delete(&format!("{path}/lease")).header("forebay-lease", token);
        assert_eq!(Answered::to(lease).await.problem(), (409, "lease-lost".into()));
    }

    let put = server.put("/v1/cache/new/id?ttl_ms=60000", "value");

    assert_eq!(Answered::to(put).await.status, 204);
}

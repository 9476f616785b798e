//! Leases: granted, renewed, given back, filled, and what others hear meanwhile.

use std::time::Duration;

use tokio::time::sleep;

use crate::support::{Answered, Server};

const LEASE: &str = "/v1/cache/leases/id/lease";
const ENTRY: &str = "/v1/cache/leases/id";
const AT_ONCE: &str = r#"{"wait_ms":0}"#;

async fn ask(server: &Server) -> Answered {
    Answered::to(server.post(LEASE, AT_ONCE)).await
}

async fn under(server: &Server, method: &str, query: &str, token: &str, body: &'static str) -> Answered {
    let request = server.request(method, &format!("{LEASE}{query}")).body(body);
    Answered::to(request.header("forebay-lease", token)).await
}

#[tokio::test]
async fn a_lease_lasts_as_long_as_asked_or_as_the_space_says() {
    let server = Server::with("[cache.spaces.leases]\nlease = \"7s\"");

    let granted = ask(&server).await;
    assert_eq!(granted.json()["lease_ms"], 7_000);
    assert_eq!(granted.header("forebay-cache"), Some("MISS"));
    assert_eq!(granted.header("cache-status"), Some("forebay;fwd=miss"));
    under(&server, "DELETE", "", &granted.lease(), "").await;

    let granted = Answered::to(server.post(LEASE, r#"{"lease_ms":300}"#)).await;
    assert_eq!(granted.json()["lease_ms"], 300);
    assert_eq!(granted.json().get("shared"), None);
    sleep(Duration::from_millis(600)).await;
    assert_eq!(ask(&server).await.status, 201);
}

#[tokio::test]
async fn while_somebody_loads_others_are_told_when_to_come_back() {
    let server = Server::start();
    ask(&server).await.lease();

    let answer = ask(&server).await;

    assert_eq!(answer.problem(), (409, "busy".into()));
    assert_eq!(answer.header("forebay-cache"), Some("BUSY"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.json()["retry_after"], 1);
}

#[tokio::test]
async fn a_lease_given_back_is_granted_to_the_next() {
    let server = Server::start();
    let token = ask(&server).await.lease();

    assert_eq!(under(&server, "DELETE", "", &token, "").await.status, 204);

    assert_eq!(under(&server, "DELETE", "", &token, "").await.problem(), (409, "lease-lost".into()));
    assert_eq!(ask(&server).await.status, 201);
}

#[tokio::test]
async fn a_failed_load_keeps_others_from_the_origin_for_a_moment() {
    let server = Server::start();
    let token = ask(&server).await.lease();
    assert_eq!(under(&server, "DELETE", "?failed=1", &token, "").await.status, 204);

    let answer = ask(&server).await;

    assert_eq!(answer.problem(), (503, "load-failed".into()));
    assert_eq!(answer.header("retry-after"), Some("1"));
    sleep(Duration::from_millis(1_200)).await;
    assert_eq!(ask(&server).await.status, 201);
}

#[tokio::test]
async fn a_lease_is_held_for_longer_when_renewed() {
    let server = Server::start();
    let token = Answered::to(server.post(LEASE, r#"{"lease_ms":400}"#)).await.lease();

    let renewed = under(&server, "PATCH", "", &token, r#"{"lease_ms":20000}"#).await;

    assert_eq!((renewed.status, renewed.body.as_str()), (200, r#"{"lease_ms":20000}"#));
    sleep(Duration::from_millis(600)).await;
    assert_eq!(ask(&server).await.status, 409);
    assert_eq!(under(&server, "PATCH", "", &token, "").await.json()["lease_ms"], 5_000);
    Answered::to(server.delete(ENTRY)).await;
    assert_eq!(under(&server, "PATCH", "", &token, "").await.problem(), (409, "lease-lost".into()));
}

#[tokio::test]
async fn an_absence_can_be_filled_in() {
    let server = Server::start();
    let token = ask(&server).await.lease();

    assert_eq!(under(&server, "PUT", "?absent=1&ttl_ms=60000", &token, "").await.status, 204);

    assert_eq!(ask(&server).await.problem(), (404, "cached-absence".into()));
    assert_eq!(Answered::to(server.get(ENTRY)).await.problem(), (404, "cached-absence".into()));
}

#[tokio::test]
async fn a_value_too_large_lets_everybody_load_for_himself() {
    let server = Server::with("[cache.spaces.leases]\nmax_bytes = 4");
    let token = ask(&server).await.lease();

    let refused = under(&server, "PUT", "?ttl_ms=60000", &token, "12345").await;
    assert_eq!(refused.problem(), (413, "too-large".into()));

    let unshared = ask(&server).await;
    assert_eq!(unshared.json()["shared"], false);
    assert_eq!(under(&server, "PUT", "?ttl_ms=60000", &unshared.lease(), "1234").await.status, 204);
    assert_eq!(Answered::to(server.get(ENTRY)).await.status, 404);
}

#[tokio::test]
async fn one_caller_is_to_refresh_a_stale_value_and_the_others_get_it() {
    let server = Server::start();
    Answered::to(server.put(&format!("{ENTRY}?ttl_ms=100&stale_ms=60000"), "old")).await;
    sleep(Duration::from_millis(300)).await;

    let mine = ask(&server).await;
    assert_eq!((mine.status, mine.body.as_str()), (200, "old"));
    assert_eq!(mine.header("forebay-cache"), Some("STALE"));
    assert_eq!(mine.header("cache-status"), Some("forebay;fwd=stale;ttl=0"));
    assert_eq!(mine.header("forebay-lease-ms"), Some("5000"));
    let theirs = ask(&server).await;
    assert_eq!((theirs.status, theirs.body.as_str(), theirs.header("forebay-lease")), (200, "old", None));

    let token = mine.header("forebay-lease").unwrap();
    assert_eq!(under(&server, "PUT", "?ttl_ms=60000", token, "new").await.status, 204);
    assert_eq!(Answered::to(server.get(ENTRY)).await.body, "new");
}

#[tokio::test]
async fn one_caller_is_to_refresh_a_value_ahead_of_its_end_and_has_it_meanwhile() {
    let server = Server::with("[cache.spaces.leases]\nrefresh = \"ahead\"\nahead = 0.99");
    Answered::to(server.put(&format!("{ENTRY}?ttl_ms=20000"), "old")).await;
    let early = ask(&server).await;
    assert_eq!((early.status, early.header("forebay-lease")), (200, None));
    sleep(Duration::from_millis(400)).await;

    let mine = ask(&server).await;
    assert_eq!((mine.status, mine.body.as_str(), mine.header("forebay-cache")), (200, "old", Some("HIT")));
    assert!(mine.header("cache-status").unwrap().starts_with("forebay;hit;ttl=19"), "{mine:?}");
    assert_eq!(mine.header("forebay-lease-ms"), Some("5000"));
    let theirs = ask(&server).await;
    assert_eq!((theirs.status, theirs.body.as_str(), theirs.header("forebay-lease")), (200, "old", None));

    let token = mine.header("forebay-lease").unwrap();
    assert_eq!(under(&server, "PUT", "?ttl_ms=60000", token, "new").await.status, 204);
    assert_eq!(Answered::to(server.get(ENTRY)).await.body, "new");
}

#[tokio::test]
async fn by_chance_a_value_is_refreshed_by_what_its_client_took_to_load_it() {
    let server = Server::with("[cache.spaces.leases]\nrefresh = \"early\"\nbeta = 1e12");
    let granted = ask(&server).await.lease();
    sleep(Duration::from_millis(100)).await;
    assert_eq!(under(&server, "PUT", "?ttl_ms=4000", &granted, "old").await.status, 204);
    assert_eq!(ask(&server).await.header("forebay-lease"), None);
    sleep(Duration::from_millis(2_100)).await;

    let early = ask(&server).await;

    assert_eq!((early.status, early.body.as_str()), (200, "old"));
    assert!(early.header("forebay-lease").is_some(), "{early:?}");
}

#[tokio::test]
async fn a_life_that_nobody_gives_may_follow_from_the_reads() {
    let server = Server::with(
        "[cache.spaces.leases]\njitter = 0.0\ntime_to_live = \"1m\"\nadaptive = { min = \"30s\", max = \"90s\" }",
    );
    for (reads, life) in [(0, 29..=30), (100, 57..=61)] {
        let granted = ask(&server).await.lease();
        assert_eq!(under(&server, "PUT", "", &granted, "value").await.status, 204);
        let status = Answered::to(server.get(ENTRY)).await;
        let status = status.header("cache-status").unwrap();
        let ttl: u64 = status.split("ttl=").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
        assert!(life.contains(&ttl), "{reads} reads: {status}");
        for _ in 0..100 {
            Answered::to(server.get(ENTRY)).await;
        }
        // No change of an id forgets how often it was read.
        server.request("DELETE", ENTRY).send().await.unwrap();
    }
}

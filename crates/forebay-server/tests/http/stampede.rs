//! One load per miss, whatever happens meanwhile.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::sleep};

use crate::support::{Answered, Server};

const LEASE: &str = "/v1/cache/stampede/missing/lease";
const ENTRY: &str = "/v1/cache/stampede/missing";

async fn lease(server: &Server) -> String {
    Answered::to(server.post(LEASE, "")).await.lease()
}

async fn fill(server: &Server, token: &str) -> Answered {
    let fill = server.put(&format!("{LEASE}?ttl_ms=60000"), "loaded");
    Answered::to(fill.header("forebay-lease", token)).await
}

#[tokio::test]
async fn of_a_thousand_callers_one_loads_and_all_get_its_value() {
    let server = Arc::new(Server::start());
    let mut callers = JoinSet::new();
    for _ in 0..1_000 {
        let server = server.clone();
        callers.spawn(async move { Answered::to(server.post(LEASE, r#"{"wait_ms":5000}"#)).await });
    }

    let first = callers.join_next().await.unwrap().unwrap();
    sleep(Duration::from_millis(500)).await;
    assert_eq!(fill(&server, &first.lease()).await.status, 204);

    let others = callers.join_all().await;
    assert_eq!(others.len(), 999);
    for answer in others {
        assert_eq!((answer.status, answer.body.as_str()), (200, "loaded"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_delete_overtakes_the_load_that_runs() {
    let server = Server::start();
    let token = lease(&server).await;

    assert_eq!(Answered::to(server.delete(ENTRY)).await.status, 204);

    assert_eq!(fill(&server, &token).await.problem(), (409, "lease-lost".into()));
    assert_eq!(Answered::to(server.get(ENTRY)).await.problem(), (404, "cache-miss".into()));
}

#[tokio::test]
async fn a_put_overtakes_the_load_that_runs_and_stays() {
    let server = Server::start();
    let token = lease(&server).await;

    assert_eq!(Answered::to(server.put(&format!("{ENTRY}?ttl_ms=60000"), "put")).await.status, 204);

    assert_eq!(fill(&server, &token).await.problem(), (409, "lease-lost".into()));
    assert_eq!(Answered::to(server.get(ENTRY)).await.body, "put");
}

#[tokio::test]
async fn whoever_waited_hears_that_the_load_was_shared() {
    let server = Arc::new(Server::start());
    let token = lease(&server).await;
    let waiting = tokio::spawn({
        let server = server.clone();
        async move { Answered::to(server.post(LEASE, "")).await }
    });
    sleep(Duration::from_millis(200)).await;
    fill(&server, &token).await;

    let answer = waiting.await.unwrap();

    assert_eq!((answer.status, answer.header("forebay-cache")), (200, Some("COALESCED")));
    let status = answer.header("cache-status").unwrap();
    assert!(status.starts_with("forebay;fwd=miss;collapsed;ttl="), "{status}");
}

#[tokio::test]
async fn a_client_that_leaves_while_it_waits_is_not_given_the_lease() {
    let server = Server::start();
    let token = lease(&server).await;
    let waiting = server.post(LEASE, "").timeout(Duration::from_millis(200)).send().await;
    assert!(waiting.unwrap_err().is_timeout());

    let back = server.delete(LEASE).header("forebay-lease", token);
    assert_eq!(Answered::to(back).await.status, 204);

    let next = Answered::to(server.post(LEASE, r#"{"wait_ms":0}"#)).await;
    assert_eq!(next.status, 201, "{next:?}");
}

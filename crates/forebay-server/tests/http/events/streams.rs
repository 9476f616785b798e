//! Streams: how many there may be, how long they last, and what becomes of those that nobody reads.

use std::time::Duration;

use nix::sys::signal::Signal::SIGTERM;
use tokio::time::{sleep, timeout};

use super::{
    PRICES,
    client::{Event, Events, PATIENCE},
    publish,
};
use crate::support::{Answered, Server, Stage};

/// With some hundreds of them on their way, nothing more fits between a server and a client that does not read.
const LARGE: usize = 16 * 1024;

async fn publish_large(server: &Server, count: usize) {
    let message = "x".repeat(LARGE);
    for _ in 0..count {
        assert_eq!(publish(server, PRICES, &message).await.status, 204);
    }
}

#[tokio::test]
async fn so_many_listen_and_no_more_until_one_goes_away() {
    let stage = Stage::redis("[server]\nevent_streams = 100").await;
    let mut clients = Vec::new();
    for _ in 0..100 {
        clients.push(Events::of(&stage.here, PRICES, None).await.0);
    }
    let subscribed =
        stage.redis.as_ref().unwrap().call(&["PUBSUB", "NUMSUB", "forebay:forebay:topic:prices"]);
    assert!(subscribed.ends_with('1'), "{subscribed}");
    let refused = timeout(PATIENCE, Answered::to(stage.here.get(PRICES))).await.expect("no stream");
    assert_eq!(refused.problem(), (503, "too-many-streams".into()));
    assert_eq!(refused.header("retry-after"), Some("2"));
    publish(&stage.there, PRICES, "to all").await;
    for client in &mut clients {
        assert_eq!(client.data().await, "to all");
    }

    clients.pop();

    is_let_in(&stage.here).await;
}

#[tokio::test]
async fn there_is_room_for_so_many_undeclared_topics_and_for_the_declared_ones_besides() {
    let server = Server::with("[server]\nevent_streams = 2000\n[topics.declared]\n");
    let path = |topic: &str| format!("/v1/events/{topic}");
    let mut clients = Vec::new();
    for number in 0..1024 {
        clients.push(Events::of(&server, &path(&number.to_string()), None).await.0);
    }
    let refused = timeout(PATIENCE, Answered::to(server.get(&path("one-more")))).await.expect("no stream");
    assert_eq!(refused.problem(), (503, "too-many-streams".into()));
    assert!(refused.body.contains("[topics.\\\"one-more\\\"]"), "{refused:?}");
    for heard_already in ["7", "declared"] {
        clients.push(Events::of(&server, &path(heard_already), None).await.0);
    }
    assert_eq!(publish(&server, &path("one-more"), "a").await.status, 204);
}

/// Waits until one more client may listen.
async fn is_let_in(server: &Server) {
    let asking = async {
        while server.get(PRICES).send().await.unwrap().status() != 200 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(2 * PATIENCE, asking).await.expect("a place is free");
}

#[tokio::test]
async fn whoever_takes_nothing_loses_its_place() {
    let server = Server::with("[server]\nevent_streams = 1");
    let (_stuck, _) = Events::of(&server, PRICES, None).await;
    publish_large(&server, 1000).await;
    assert_eq!(server.get(PRICES).send().await.unwrap().status(), 503);

    is_let_in(&server).await;
}

#[tokio::test]
async fn whoever_is_slow_is_told_how_many_it_misses_and_holds_up_nobody() {
    for stage in Stage::each().await {
        let (mut slow, _) = Events::of(&stage.here, PRICES, None).await;
        let (mut quick, _) = Events::of(&stage.here, PRICES, None).await;
        let count = 2500;
        for _ in 0..count {
            publish_large(&stage.there, 1).await;
            assert_eq!(quick.data().await.len(), LARGE);
        }
        let (mut heard, mut missed) = (0, 0);
        while heard + missed < count {
            let event = slow.next().await.unwrap();
            match event.missed() {
                Some(some) => missed += some,
                None => heard += usize::from(event.data.is_some()),
            }
        }
        assert_eq!(heard + missed, count);
        assert!(missed > 0, "all of them were kept for one who did not read");
    }
}

#[tokio::test]
async fn a_shutdown_ends_every_stream_at_once() {
    let mut server = Server::with("[server]\nshutdown_budget = \"1h\"");
    let (mut events, _) = Events::of(&server, PRICES, None).await;

    server.signal(SIGTERM);

    assert_eq!(events.next().await, None);
    assert_eq!(server.ended(), Some(0));
}

#[tokio::test]
async fn a_stream_that_nobody_reads_holds_up_no_shutdown() {
    let mut server = Server::with("[server]\nshutdown_budget = \"1h\"");
    let (_stuck, _) = Events::of(&server, PRICES, None).await;
    publish_large(&server, 1000).await;

    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(0));
}

#[tokio::test]
async fn a_stream_outlasts_the_deadline_of_requests_and_is_kept_alive() {
    let server = Server::with("[server]\nrequest_deadline = \"1s\"");
    let (mut events, _) = Events::of(&server, PRICES, None).await;
    assert_eq!(events.next().await, Some(Event::default()), "a comment");
}

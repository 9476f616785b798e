//! Events: messages to whoever listens, over memory and over Redis.

mod client;
mod streams;

use std::time::Duration;

use tokio::time::sleep;

use self::client::Events;
use crate::support::{Answered, Server, Stage};

const PRICES: &str = "/v1/events/prices";
const ORDERS: &str = "/v1/events/orders";
const DURABLE: &str = "[topics.orders]\ndurable = true\nmax_len = 1000\nkeep_for = \"1h\"\n";

async fn publish(server: &Server, path: &str, message: &str) -> Answered {
    Answered::to(server.post(path, message.to_owned())).await
}

/// Publishes to a durable topic.
async fn keep(server: &Server, message: &str) -> String {
    let answer = publish(server, ORDERS, message).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_published_reaches_all_who_listen() {
    for stage in Stage::each().await {
        let (mut here, hello) = Events::of(&stage.here, PRICES, None).await;
        let (mut there, _) = Events::of(&stage.there, PRICES, None).await;
        assert_eq!(hello.id, None);
        for message in ["p-001", "two\nlines: of text", "{\"json\": 1}", ""] {
            assert_eq!(publish(&stage.there, PRICES, message).await.status, 204);
            assert_eq!((here.data().await, there.data().await), (message.to_owned(), message.to_owned()));
        }
    }
}

#[tokio::test]
async fn whoever_was_cut_off_goes_on_behind_its_last_event() {
    for stage in [Stage::memory(DURABLE), Stage::redis(DURABLE).await] {
        let (mut events, _) = Events::of(&stage.here, ORDERS, None).await;
        let first = keep(&stage.there, "1").await;
        let seen = events.next().await.unwrap();
        assert_eq!((seen.id.as_deref(), seen.data.as_deref()), (Some(&*first), Some("1")));
        drop(events);
        let second = keep(&stage.there, "2").await;
        let third = keep(&stage.there, "3").await;
        let (mut events, _) = Events::of(&stage.here, ORDERS, seen.id.as_deref()).await;
        for (id, data) in [(second, "2"), (third, "3")] {
            let event = events.next().await.unwrap();
            assert_eq!((event.id, event.data.as_deref()), (Some(id), Some(data)));
        }
        let fourth = keep(&stage.there, "4").await;
        assert_eq!(events.next().await.unwrap().id, Some(fourth));
    }
}

#[tokio::test]
async fn whoever_comes_and_goes_is_sent_each_message_once_and_in_order() {
    for stage in [Stage::memory(DURABLE), Stage::redis(DURABLE).await] {
        let messages: Vec<_> = (0..300).map(|number| number.to_string()).collect();
        let (there, all) = (stage.there.clone(), messages.clone());
        let publisher = tokio::spawn(async move {
            for message in all {
                keep(&there, &message).await;
            }
        });
        let (mut heard, mut last) = (Vec::new(), "0-0".to_owned());
        while heard.len() < messages.len() {
            let (mut events, hello) = Events::of(&stage.here, ORDERS, Some(&last)).await;
            assert_eq!(hello.id.as_ref(), Some(&last));
            for _ in 0..7.min(messages.len() - heard.len()) {
                let event = events.next().await.unwrap();
                last = event.id.unwrap();
                heard.push(event.data.unwrap());
            }
        }
        assert_eq!(heard, messages);
        publisher.await.unwrap();
    }
}

#[tokio::test]
async fn whoever_was_cut_off_before_its_first_event_misses_none() {
    for stage in [Stage::memory(DURABLE), Stage::redis(DURABLE).await] {
        keep(&stage.there, "before").await;
        let (events, hello) = Events::of(&stage.here, ORDERS, None).await;
        drop(events);
        keep(&stage.there, "meanwhile").await;
        let (mut events, _) = Events::of(&stage.here, ORDERS, hello.id.as_deref()).await;
        assert_eq!(events.data().await, "meanwhile");
    }
}

#[tokio::test]
async fn whoever_may_have_missed_something_is_told() {
    let stage = Stage::redis(DURABLE).await;
    let (mut prices, _) = Events::of(&stage.here, PRICES, None).await;
    let (mut orders, _) = Events::of(&stage.here, ORDERS, Some("1-1")).await;
    assert!(orders.next().await.unwrap().is_deaf("missed"), "the topic is not that which the client knows");
    let (mut once_durable, _) = Events::of(&stage.here, PRICES, Some("1-1")).await;
    assert!(once_durable.next().await.unwrap().is_deaf("missed"));

    stage.redis.as_ref().unwrap().restart();

    assert!(prices.next().await.unwrap().is_deaf("begins"));
    assert!(prices.next().await.unwrap().is_deaf("over"));
    // The other server may not have found Redis yet.
    while publish(&stage.there, PRICES, "again").await.status != 204 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(prices.data().await, "again");
}

#[tokio::test]
async fn whoever_begins_while_redis_is_gone_is_told() {
    let stage = Stage::redis(DURABLE).await;
    let redis = stage.redis.as_ref().unwrap();
    redis.kill();
    for topic in [PRICES, ORDERS] {
        let (mut events, hello) = Events::of(&stage.here, topic, None).await;
        assert_eq!(hello.id, None);
        assert!(events.next().await.unwrap().is_deaf("begins"), "{topic}");
    }
    let (mut prices, _) = Events::of(&stage.here, PRICES, None).await;
    assert!(prices.next().await.unwrap().is_deaf("begins"));

    redis.restart();

    assert!(prices.next().await.unwrap().is_deaf("over"));
}

// Unlike a space or a counter, which takes its name for as long as the server runs.
#[tokio::test]
async fn a_topic_that_nobody_listens_to_takes_no_place() {
    for stage in Stage::each().await {
        for number in 0..1100 {
            assert_eq!(publish(&stage.here, &format!("/v1/events/{number}"), "a").await.status, 204);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let server = Server::with(DURABLE);
    let post = |path: &str, body: &'static [u8]| server.post(path, body);
    let large: &'static [u8] = vec![b'x'; 65_537].leak();
    for (request, problem) in [
        (post("/v1/events/Prices", b"a"), (400, "invalid-topic")),
        (server.get("/v1/events/a%20b"), (400, "invalid-topic")),
        (post(PRICES, b"\xff"), (400, "invalid-body")),
        (post(PRICES, large), (413, "too-large")),
        (post(&format!("{PRICES}?durable=1"), b"a"), (400, "invalid-query")),
        (server.get(&format!("{ORDERS}?after=1-1")), (400, "invalid-query")),
        (server.get(ORDERS).header("last-event-id", "yesterday"), (400, "invalid-header")),
        (server.delete(ORDERS), (405, "method-not-allowed")),
    ] {
        let answer = Answered::to(request).await;
        assert_eq!(answer.problem(), (problem.0, problem.1.to_owned()), "{answer:?}");
    }
}

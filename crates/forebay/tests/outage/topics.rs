//! Topics while Redis is gone: publishers are told in time, subscribers go on by themselves.

use std::time::Duration;

use forebay::{
    ErrorKind, Forebay,
    testing::Flow,
    topic::{Deaf, Durable, Heard, Id, Retention, Subscription},
};

use crate::{
    stage::{PATIENCE, Stage, flow},
    timing::{now, timed},
};

/// A budget of 50 ms, on a busy machine.
const IN_TIME: Duration = Duration::from_millis(500);

fn orders(forebay: &Forebay) -> Durable {
    let retention = Retention { max_len: 1000, keep_for: Duration::from_secs(600) };
    forebay.topic("orders").durable(retention).expect("nothing to refuse")
}

async fn next(subscription: &mut Subscription) -> Heard {
    let next = tokio::time::timeout(PATIENCE, subscription.next()).await;
    next.expect("something is heard").expect("the topic goes on")
}

#[tokio::test]
async fn publishing_to_a_server_that_is_silent_fails_in_time_and_says_what_is_not_known() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let (prices, orders) = (stage.forebay.topic("prices").build().unwrap(), orders(&stage.forebay));
    orders.publish("before").await.unwrap();
    let mut heard = orders.subscribe_from(Id::BEGINNING);
    flow(&proxy, Flow::Hold);
    let began = now();
    let (live_took, live) = timed(prices.publish("a")).await;
    let (durable_took, durable) = timed(orders.publish("b")).await;
    for (error, took) in [(live.unwrap_err(), live_took), (durable.unwrap_err(), durable_took)] {
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(took < IN_TIME, "{took:?}");
    }
    stage.give_up().await;
    let refused = orders.publish("c").await.unwrap_err();
    assert!(refused.to_string().contains("nothing was published"), "{refused}");
    assert!(began.elapsed() < PATIENCE);

    flow(&proxy, Flow::Pass);
    stage.in_use().await;
    let id = orders.publish("after").await.unwrap();
    // What was not answered has come through all the same, or it has not.
    let mut texts = Vec::new();
    loop {
        match next(&mut heard).await {
            Heard::Message(message) if message.id == Some(id) => break,
            Heard::Message(message) => texts.push(message.text().unwrap().to_owned()),
            Heard::Deaf(deaf) => panic!("nothing of a durable topic is missed: {deaf:?}"),
        }
    }
    assert!(texts == ["before"] || texts == ["before", "b"], "{texts:?}");
}

#[tokio::test]
async fn subscribers_and_consumers_go_on_by_themselves_once_the_server_is_back() {
    let stage = Stage::new().await;
    let (there, _cache) = stage.neighbour().await;
    let mut prices = stage.forebay.topic("prices").build().unwrap().subscribe().await;
    let mut heard = orders(&stage.forebay).subscribe().await;
    let mut consumer = orders(&stage.forebay).group("billing").build().unwrap().consumer("one");
    orders(&there).publish("before").await.unwrap();
    assert!(matches!(next(&mut heard).await, Heard::Message(message) if message.text() == Some("before")));
    consumer.next().await.unwrap().ack().await.unwrap();

    // It comes back empty.
    stage.restart().await;
    stage.in_use().await;

    assert_eq!(next(&mut prices).await, Heard::Deaf(Deaf::Begins));
    assert_eq!(next(&mut prices).await, Heard::Deaf(Deaf::Over));
    assert_eq!(next(&mut heard).await, Heard::Deaf(Deaf::Missed(None)));
    let publishing = async {
        while orders(&there).publish("after").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, publishing).await.unwrap();
    assert!(matches!(next(&mut heard).await, Heard::Message(message) if message.text() == Some("after")));
    let delivery = tokio::time::timeout(PATIENCE, consumer.next()).await.unwrap().unwrap();
    assert_eq!(delivery.text(), Some("after"));
    delivery.ack().await.unwrap();
    assert_eq!(stage.redis.keys_without_expiry(), Vec::<String>::new());
}

//! Topics between processes: whose way to the server is cut, and what becomes of what they had.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Forebay,
    observe::{Event, Observe, TopicOutcome},
    testing::Flow,
    topic::{Consumer, Deaf, Delivery, Durable, Group, Heard, Id, Retention, Subscription},
};

use crate::rig::{CLOCK, Process, Rig, done, eventually};

const VISIBILITY: Duration = Duration::from_secs(1);

fn orders(forebay: &Forebay, max_len: u64) -> Durable {
    let retention = Retention { max_len, keep_for: Duration::from_secs(600) };
    forebay.topic("orders").durable(retention).unwrap()
}

fn billing(process: &Process) -> Group {
    orders(&process.forebay, 10_000).group("billing").visibility(VISIBILITY).build().unwrap()
}

async fn next(subscription: &mut Subscription) -> Heard {
    done(subscription.next()).await.unwrap()
}

async fn text(subscription: &mut Subscription) -> String {
    match next(subscription).await {
        Heard::Message(message) => message.text().unwrap().to_owned(),
        Heard::Deaf(deaf) => format!("{deaf:?}"),
    }
}

async fn taken(consumer: &mut Consumer, count: usize) -> Vec<Delivery> {
    let mut taken = Vec::new();
    while taken.len() < count {
        taken.extend(done(consumer.next_many(count - taken.len())).await);
    }
    taken
}

fn ids(deliveries: &[Delivery]) -> Vec<Id> {
    deliveries.iter().map(|delivery| delivery.id).collect()
}

/// Cuts a process off, for good.
fn cut_off(process: &Process) {
    process.proxy.refuse();
    process.proxy.cut();
}

#[tokio::test]
async fn a_subscriber_that_was_cut_off_is_told_when_it_begins_and_when_it_is_over() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let mut heard = here.forebay.topic("prices").build().unwrap().subscribe().await;
    let prices = there.forebay.topic("prices").build().unwrap();
    prices.publish("before").await.unwrap();
    assert_eq!(text(&mut heard).await, "before");

    rig.kill_subscriptions();

    assert_eq!(next(&mut heard).await, Heard::Deaf(Deaf::Begins));
    assert_eq!(next(&mut heard).await, Heard::Deaf(Deaf::Over));
    prices.publish("after").await.unwrap();
    assert_eq!(text(&mut heard).await, "after");
}

#[tokio::test]
async fn whoever_subscribes_while_nothing_is_heard_is_told_and_hears_later() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder.redis_budget(Duration::from_millis(50))).await;
    cut_off(&here);
    eventually(|| !here.status().usable).await;
    let prices = here.forebay.topic("prices").build().unwrap();
    let mut heard = prices.subscribe().await;
    assert_eq!(next(&mut heard).await, Heard::Deaf(Deaf::Begins));
    let mut durable = orders(&here.forebay, 10).subscribe().await;
    assert_eq!(next(&mut durable).await, Heard::Deaf(Deaf::Begins));

    here.proxy.accept();

    assert_eq!(next(&mut heard).await, Heard::Deaf(Deaf::Over));
    assert_eq!(next(&mut durable).await, Heard::Deaf(Deaf::Over));
    eventually(|| here.status().usable).await;
    prices.publish("a").await.unwrap();
    orders(&here.forebay, 10).publish("b").await.unwrap();
    assert_eq!((text(&mut heard).await, text(&mut durable).await), ("a".into(), "b".into()));
}

#[tokio::test]
async fn a_topic_that_nobody_subscribes_to_any_more_is_not_heard() {
    let rig = Rig::new();
    let [here, _] = rig.open().await;
    let topic = here.forebay.topic("prices").build().unwrap();
    let subscribers = || rig.redis.call(&["PUBSUB", "NUMSUB", "forebay:rig:topic:prices"]);
    for _ in 0..20 {
        let heard = [topic.subscribe().await, topic.subscribe().await];
        assert!(subscribers().ends_with('1'), "{}", subscribers());
        drop(heard);
        // Whether or not the server has been told of that yet.
        let mut heard = topic.subscribe().await;
        topic.publish("a").await.unwrap();
        assert_eq!(text(&mut heard).await, "a");
    }
    eventually(|| subscribers().ends_with('0')).await;
}

#[tokio::test]
async fn a_durable_topic_has_no_hole_however_often_connections_are_cut() {
    const MESSAGES: usize = 2000;
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let mut heard = orders(&here.forebay, 10_000).subscribe_from(Id::BEGINNING);
    let (orders, over) = (orders(&there.forebay, 10_000), Arc::new(AtomicBool::new(false)));
    let publishing = {
        let over = over.clone();
        tokio::spawn(async move {
            for number in 0..MESSAGES {
                orders.publish(number.to_string()).await.unwrap();
                CLOCK.sleep(Duration::from_millis(1)).await;
            }
            over.store(true, SeqCst);
        })
    };
    let cutting = async {
        for round in 0.. {
            CLOCK.sleep(Duration::from_millis(150)).await;
            match round % 3 {
                _ if over.load(SeqCst) => return round,
                0 => rig.kill_subscriptions(),
                1 => here.proxy.cut(),
                _ => here.proxy.drop_replies(5, "orders"),
            }
        }
        0
    };
    let reading = async {
        for number in 0..MESSAGES {
            assert_eq!(text(&mut heard).await, number.to_string());
        }
    };
    let (rounds, ()) = futures::future::join(cutting, reading).await;
    assert!(rounds > 3, "it was cut {rounds} times");
    publishing.await.unwrap();
}

#[tokio::test]
async fn what_a_process_had_that_was_killed_goes_to_another() {
    let rig = Rig::new();
    let [one, other] = rig.open().await;
    let topic = orders(&other.forebay, 10_000);
    for number in 0..20 {
        topic.publish(number.to_string()).await.unwrap();
    }
    let (mut killed, mut lives) = (billing(&one).consumer("one"), billing(&other).consumer("other"));
    let held = taken(&mut killed, 10).await;
    let began = CLOCK.now();

    cut_off(&one);

    let new = taken(&mut lives, 10).await;
    let again = taken(&mut lives, 10).await;
    let waited = CLOCK.now().since(began);
    assert_eq!(ids(&again), ids(&held));
    assert!(again.iter().all(|delivery| delivery.attempts == 2));
    assert!(waited >= VISIBILITY / 2, "{waited:?}");
    for delivery in new.into_iter().chain(again) {
        assert!(delivery.ack().await.unwrap());
    }
    let pending = rig.redis.call(&["XPENDING", "stream:rig:{orders}", "billing"]);
    assert!(pending.starts_with('0'), "{pending}");
    held.into_iter().for_each(std::mem::forget);
}

#[tokio::test]
async fn an_end_that_was_not_answered_is_told_until_it_is() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder.redis_budget(Duration::from_millis(50))).await;
    orders(&here.forebay, 10_000).publish("a").await.unwrap();
    let mut consumer = billing(&here).consumer("one");
    let held = taken(&mut consumer, 1).await.remove(0);
    here.proxy.drop_requests(1, "done");
    assert!(held.ack().await.is_err());
    eventually(|| rig.redis.call(&["XPENDING", "stream:rig:{orders}", "billing"]).starts_with('0')).await;
}

#[tokio::test]
async fn what_was_given_out_without_an_answer_comes_again_at_once() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder.redis_budget(Duration::from_millis(100))).await;
    let topic = orders(&here.forebay, 10_000);
    let long = topic.group("billing").visibility(Duration::from_secs(600)).build().unwrap();
    let mut consumer = long.consumer("one");
    topic.publish("a").await.unwrap();
    here.proxy.replies(Flow::Discard);
    // Far more often than a message is delivered.
    assert!(CLOCK.timeout(Duration::from_secs(5), consumer.next()).await.is_none());
    here.proxy.cut();
    here.proxy.replies(Flow::Pass);
    let delivery = taken(&mut consumer, 1).await.remove(0);
    assert_eq!((delivery.text(), delivery.attempts), (Some("a"), 1));
    assert!(delivery.ack().await.unwrap());
}

/// Counts what happens.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<HashMap<String, u64>>>);

impl Counts {
    fn of(&self, outcome: TopicOutcome) -> u64 {
        self.0.lock().unwrap().get(&format!("{outcome:?}")).copied().unwrap_or(0)
    }
}

impl Observe for Counts {
    fn record(&self, event: Event<'_>) {
        if let Event::Topic { outcome, messages, .. } = event {
            *self.0.lock().unwrap().entry(format!("{outcome:?}")).or_default() += messages;
        }
    }
}

// S3: what was trimmed while it was pending is neither delivered nor acknowledged by anybody, and nobody learns of it.
#[tokio::test]
async fn what_is_no_longer_kept_is_counted_as_lost_and_no_longer_pending() {
    let rig = Rig::new();
    let counts = Counts::default();
    let here = rig.open_with(|builder| builder.observe(counts.clone())).await;
    let topic = orders(&here.forebay, 10_000);
    for number in 0..20 {
        topic.publish(number.to_string()).await.unwrap();
    }
    let group = topic.group("billing").visibility(VISIBILITY).build().unwrap();
    let mut one = group.consumer("one");
    let held = taken(&mut one, 10).await;
    // Five of those that are pending, and five that nobody was given yet.
    assert_eq!(rig.redis.call(&["XTRIM", "stream:rig:{orders}", "MAXLEN", "5"]), "15");
    CLOCK.sleep(VISIBILITY + Duration::from_millis(100)).await;
    let mut other = group.consumer("other");
    let new = taken(&mut other, 5).await;
    assert_eq!(new[0].text(), Some("15"));
    assert_eq!(counts.of(TopicOutcome::Lost), 15);
    for delivery in new {
        assert!(delivery.ack().await.unwrap());
    }
    let pending = rig.redis.call(&["XPENDING", "stream:rig:{orders}", "billing"]);
    assert!(pending.starts_with('0'), "{pending}");
    for (outcome, count) in [
        (TopicOutcome::Published, 20),
        (TopicOutcome::Delivered, 15),
        (TopicOutcome::Acknowledged, 5),
        (TopicOutcome::DeadLettered, 0),
    ] {
        assert_eq!(counts.of(outcome), count, "{outcome:?}");
    }
    held.into_iter().for_each(std::mem::forget);
}

/// One message that cannot be read stops nobody.
#[tokio::test]
async fn what_no_topic_has_written_is_passed_over_and_put_aside() {
    let rig = Rig::new();
    let counts = Counts::default();
    let here = rig.open_with(|builder| builder.observe(counts.clone())).await;
    let topic = orders(&here.forebay, 10_000);
    topic.publish("a").await.unwrap();
    let mut heard = topic.subscribe_from(Id::BEGINNING);
    rig.redis.call(&["XADD", "stream:rig:{orders}", "*", "other", "x"]);
    topic.publish("b").await.unwrap();
    let mut all = Vec::new();
    while all.last().is_none_or(|last| last != "b") {
        all.push(text(&mut heard).await);
    }
    assert_eq!((&*all[0], counts.of(TopicOutcome::Unreadable)), ("a", 1));
    let mut consumer = billing(&here).consumer("one");
    let taken = taken(&mut consumer, 2).await;
    assert_eq!(taken.iter().map(|delivery| delivery.text().unwrap()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(billing(&here).dead_letters(Id::BEGINNING).await.unwrap().len(), 1);
}

//! Consumers who share messages.

use std::{collections::HashSet, time::Duration};

use forebay::{
    ErrorKind,
    topic::{Consumer, Delivery, Durable, Group, Id, Returned},
};

use super::{KEEP, durable, keeping, numbers, while_settling};
use crate::{
    polls::within_polls,
    rig::{Rig, SECOND},
};

const VISIBILITY: Duration = Duration::from_secs(5);

fn group(topic: &Durable) -> Group {
    topic.group("billing").visibility(VISIBILITY).max_deliveries(3).build().unwrap()
}

async fn publish(topic: &Durable, count: usize) -> Vec<Id> {
    let mut ids = Vec::new();
    for number in numbers(count) {
        ids.push(topic.publish(number).await.unwrap());
    }
    ids
}

async fn delivered(consumer: &mut Consumer) -> Delivery {
    let next = tokio::time::timeout(Duration::from_secs(10), consumer.next()).await;
    next.expect("something is delivered").expect("nobody shuts down")
}

/// So many deliveries, which are not settled.
async fn taken(consumer: &mut Consumer, count: usize) -> Vec<Delivery> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let some = tokio::time::timeout(Duration::from_secs(10), consumer.next_many(count - taken.len()));
        taken.extend(some.await.expect("something is delivered"));
    }
    taken
}

fn texts(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(|delivery| delivery.text().unwrap().to_owned()).collect()
}

async fn gets_nothing(rig: &impl Rig, consumer: &mut Consumer) {
    let got = while_settling(rig, consumer.next()).await;
    assert!(got.is_none(), "{got:?}");
}

async fn done(deliveries: Vec<Delivery>) {
    for delivery in deliveries {
        assert!(delivery.ack().await.unwrap());
    }
}

pub(crate) async fn each_message_goes_to_one_of_the_consumers(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 100).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let mut all = HashSet::new();
    for _ in 0..50 {
        for consumer in [&mut one, &mut other] {
            let delivery = delivered(consumer).await;
            assert_eq!(delivery.attempts, 1);
            assert!(all.insert(delivery.text().unwrap().to_owned()), "{delivery:?} comes twice");
            assert!(delivery.ack().await.unwrap());
        }
    }
    rig.pass(VISIBILITY * 2).await;
    gets_nothing(&rig, &mut one).await;
    let id = topic.publish("new").await.unwrap();
    assert_eq!(delivered(&mut one).await.id, id);
}

pub(crate) async fn every_group_is_given_every_message(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 10).await;
    for name in ["billing", "shipping"] {
        let mut consumer = topic.group(name).build().unwrap().consumer("one");
        let all = taken(&mut consumer, 10).await;
        assert_eq!(texts(&all), numbers(10));
        done(all).await;
    }
}

pub(crate) async fn a_group_begins_with_what_is_kept_or_with_what_comes(rig: impl Rig) {
    let topic = durable(&rig);
    topic.publish("before").await.unwrap();
    let mut new = topic.group("new").from_now().build().unwrap().consumer("one");
    let mut all = topic.group("all").build().unwrap().consumer("one");
    gets_nothing(&rig, &mut new).await;
    assert_eq!(delivered(&mut all).await.text(), Some("before"));
    topic.publish("after").await.unwrap();
    assert_eq!(delivered(&mut new).await.text(), Some("after"));
    // Whoever comes to a group that exists goes on where it is.
    topic.publish("later").await.unwrap();
    let mut other = topic.group("new").from_now().build().unwrap().consumer("other");
    assert_eq!(delivered(&mut other).await.text(), Some("later"));
}

pub(crate) async fn what_nobody_acknowledges_comes_again_to_another(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 3).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let held = taken(&mut one, 3).await;
    rig.pass(VISIBILITY / 2).await;
    gets_nothing(&rig, &mut other).await;
    rig.pass(VISIBILITY).await;
    let again = taken(&mut other, 3).await;
    assert_eq!(texts(&again), texts(&held));
    assert!(again.iter().all(|delivery| delivery.attempts == 2), "{again:?}");
    done(again).await;
    for delivery in held {
        assert_eq!(delivery.nack("too late").await.unwrap(), Returned::Gone);
    }
    rig.pass(VISIBILITY * 2).await;
    gets_nothing(&rig, &mut other).await;
}

pub(crate) async fn what_is_renewed_stays_with_its_consumer(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let held = delivered(&mut one).await;
    for _ in 0..4 {
        rig.pass(VISIBILITY - SECOND).await;
        assert!(held.renew().await.unwrap());
        gets_nothing(&rig, &mut other).await;
    }
    rig.pass(VISIBILITY + SECOND).await;
    let again = delivered(&mut other).await;
    assert!(!held.renew().await.unwrap());
    assert!(again.ack().await.unwrap());
    assert!(!held.ack().await.unwrap());
}

// S6: who only reads what is new never comes back to what had failed before it was started again.
pub(crate) async fn what_a_consumer_had_when_it_ended_comes_first(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 5).await;
    let mut before = group(&topic).consumer("host-1");
    let held = taken(&mut before, 3).await;
    // The process dies with what it has; the consumer that comes has its name.
    let mut after = group(&topic).consumer("host-1");
    let again = taken(&mut after, 3).await;
    assert_eq!(texts(&again), texts(&held));
    assert!(again.iter().all(|delivery| delivery.attempts == 2));
    done(again).await;
    let new = taken(&mut after, 2).await;
    assert_eq!(texts(&new), ["3", "4"]);
    done(new).await;
    gets_nothing(&rig, &mut after).await;
}

pub(crate) async fn what_fails_comes_again_after_a_while_and_is_put_aside_in_the_end(rig: impl Rig) {
    let topic = durable(&rig);
    let id = publish(&topic, 1).await[0];
    let group = group(&topic);
    let mut consumer = group.consumer("one");
    for attempt in 1..=3 {
        let delivery = delivered(&mut consumer).await;
        assert_eq!((delivery.id, delivery.attempts), (id, attempt));
        let expected = if attempt < 3 { Returned::Again } else { Returned::Dead };
        assert_eq!(delivery.nack("no such customer").await.unwrap(), expected);
        gets_nothing(&rig, &mut consumer).await;
        // 1 s, then 2 s.
        rig.pass(SECOND / 2).await;
        gets_nothing(&rig, &mut consumer).await;
        rig.pass(SECOND * 2).await;
    }
    gets_nothing(&rig, &mut consumer).await;
    let dead = group.dead_letters(Id::BEGINNING).await.unwrap();
    assert_eq!((dead.len(), &*dead[0].reason), (1, "no such customer"));
    assert_eq!((dead[0].letter.id, dead[0].letter.attempts, dead[0].letter.text()), (id, 3, Some("0")));
    assert!(group.dead_letters(dead[0].id).await.unwrap().is_empty());
    rig.pass(KEEP + SECOND).await;
    assert!(group.dead_letters(Id::BEGINNING).await.unwrap().is_empty());
}

pub(crate) async fn what_nobody_settles_is_put_aside_in_the_end(rig: impl Rig) {
    let topic = durable(&rig);
    let id = publish(&topic, 1).await[0];
    let mut held = Vec::new();
    for (attempt, name) in ["one", "other", "third"].into_iter().enumerate() {
        let mut consumer = group(&topic).consumer(name);
        held.push((delivered(&mut consumer).await, consumer));
        assert_eq!(held[attempt].0.attempts as usize, attempt + 1);
        rig.pass(VISIBILITY + SECOND).await;
    }
    let mut last = group(&topic).consumer("last");
    gets_nothing(&rig, &mut last).await;
    let dead = group(&topic).dead_letters(Id::BEGINNING).await.unwrap();
    assert_eq!((dead.len(), dead[0].letter.id, dead[0].letter.attempts), (1, id, 3));
}

// S5: a look that always begins with the first entry never gets past its window.
pub(crate) async fn ten_thousand_that_were_left_behind_all_come_again(rig: impl Rig) {
    let topic = keeping(&rig, 20_000);
    for first in (0..10_000).step_by(100) {
        futures::future::join_all((first..first + 100).map(|number| topic.publish(number.to_string()))).await;
    }
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let mut held = taken(&mut one, 10_000).await;
    // The first ones are still being done, whoever looks.
    rig.pass(VISIBILITY - SECOND).await;
    for delivery in &held[..1000] {
        assert!(delivery.renew().await.unwrap());
    }
    rig.pass(SECOND * 2).await;
    let again = taken(&mut other, 9000).await;
    let ids: HashSet<_> = again.iter().map(|delivery| delivery.id).collect();
    assert_eq!(ids, held[1000..].iter().map(|delivery| delivery.id).collect());
    gets_nothing(&rig, &mut other).await;
    // Nobody waits until each of them is returned.
    held.drain(..).chain(again).for_each(std::mem::forget);
}

// S2: who removes a consumer removes what it was given along with it.
pub(crate) async fn a_consumer_that_leaves_hands_over_what_it_has(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 5).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let held = taken(&mut one, 5).await;
    one.leave(Duration::ZERO).await.unwrap();
    let mut again = Vec::new();
    while again.len() < 5 {
        again.extend(while_settling(&rig, other.next_many(5)).await.expect("it is handed over at once"));
    }
    assert_eq!(
        again.iter().map(|one| one.id).collect::<Vec<_>>(),
        held.iter().map(|one| one.id).collect::<Vec<_>>()
    );
    done(again).await;
    rig.pass(VISIBILITY * 2).await;
    gets_nothing(&rig, &mut other).await;
}

pub(crate) async fn a_consumer_that_leaves_waits_for_what_is_being_done(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let held = delivered(&mut one).await;
    let leaving = one.leave(VISIBILITY / 2);
    let mut leaving = std::pin::pin!(leaving);
    assert!(while_settling(&rig, &mut leaving).await.is_none());
    gets_nothing(&rig, &mut other).await;
    assert!(held.ack().await.unwrap());
    leaving.await.unwrap();
    gets_nothing(&rig, &mut other).await;
}

pub(crate) async fn a_delivery_that_is_dropped_comes_again(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let mut consumer = group(&topic).consumer("one");
    drop(delivered(&mut consumer).await);
    rig.settle().await;
    rig.pass(SECOND * 2).await;
    let again = delivered(&mut consumer).await;
    assert_eq!(again.attempts, 2);
    done(vec![again]).await;
}

// S3: what is trimmed stays among what is pending, for ever.
pub(crate) async fn what_is_no_longer_kept_blocks_nobody(rig: impl Rig) {
    let topic = keeping(&rig, 10);
    publish(&topic, 10).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let held = taken(&mut one, 10).await;
    // Over Redis, a hundred go at a time.
    publish(&topic, 500).await;
    rig.pass(VISIBILITY + SECOND).await;
    let first = delivered(&mut other).await;
    assert_eq!(first.attempts, 1);
    assert!(first.text().unwrap().parse::<usize>().unwrap() >= 200, "{first:?}");
    for delivery in held {
        assert_eq!(delivery.nack("too late").await.unwrap(), Returned::Gone);
    }
}

pub(crate) async fn a_late_end_is_an_end_and_a_second_one_is_none(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let (mut one, mut other) = (group(&topic).consumer("one"), group(&topic).consumer("other"));
    let late = delivered(&mut one).await;
    rig.pass(VISIBILITY + SECOND).await;
    let again = delivered(&mut other).await;
    assert!(late.ack().await.unwrap());
    assert!(!again.ack().await.unwrap());
    rig.pass(VISIBILITY * 2).await;
    gets_nothing(&rig, &mut other).await;
}

pub(crate) async fn a_call_that_is_dropped_at_any_await_loses_nothing(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 40).await;
    let mut consumer = group(&topic).consumer("one");
    let mut all = Vec::new();
    for polls in 0..30 {
        all.extend(within_polls(polls % 7, consumer.next_many(2)).await.into_iter().flatten());
        rig.settle().await;
    }
    let left = 40 - all.len();
    all.extend(taken(&mut consumer, left).await);
    assert_eq!(texts(&all), numbers(40));
    assert!(all.iter().all(|delivery| delivery.attempts == 1));
    done(all).await;
}

pub(crate) async fn a_topic_that_ended_takes_its_groups_along_and_they_begin_anew(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let mut consumer = topic.group("billing").from_now().build().unwrap().consumer("one");
    gets_nothing(&rig, &mut consumer).await;
    rig.pass(KEEP + SECOND).await;
    topic.publish("new").await.unwrap();
    assert_eq!(delivered(&mut consumer).await.text(), Some("new"));
}

pub(crate) async fn what_could_not_work_is_refused_by_name(rig: impl Rig) {
    let topic = durable(&rig);
    let bad = [
        (topic.group("Billing"), "Billing"),
        (topic.group("a").visibility(Duration::ZERO), "visibility"),
        (topic.group("a").visibility(Duration::MAX), "visibility"),
        (topic.group("a").max_deliveries(0), "max_deliveries"),
    ];
    for (bad, name) in bad {
        let refused = bad.build().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Config);
        assert!(refused.to_string().contains(name), "{refused}");
    }
    // A consumer can have any name.
    publish(&topic, 3).await;
    for name in ["", "{a} b\0", "%left"] {
        let mut consumer = group(&topic).consumer(name);
        assert!(delivered(&mut consumer).await.ack().await.unwrap());
    }
}

pub(crate) async fn a_shutdown_ends_the_waiting_and_hands_over(rig: impl Rig) {
    let topic = durable(&rig);
    let mut consumer = group(&topic).consumer("one");
    gets_nothing(&rig, &mut consumer).await;
    let shutting_down = {
        let forebay = rig.forebay().clone();
        tokio::spawn(async move { forebay.shutdown(SECOND).await })
    };
    assert!(while_settling(&rig, consumer.next()).await.expect("it ends at once").is_none());
    assert!(shutting_down.await.unwrap());
}

pub(crate) async fn a_shutdown_hands_over_what_nobody_settles(rig: impl Rig) {
    let topic = durable(&rig);
    publish(&topic, 1).await;
    let mut consumer = group(&topic).consumer("one");
    let held = delivered(&mut consumer).await;
    let shutting_down = {
        let forebay = rig.forebay().clone();
        tokio::spawn(async move { forebay.shutdown(VISIBILITY / 2).await })
    };
    rig.settle().await;
    rig.pass(VISIBILITY / 4).await;
    assert!(shutting_down.await.unwrap(), "it was not ended by force");
    drop(held);
}

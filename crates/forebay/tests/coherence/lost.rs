//! Subscriptions that are lost and messages that do not arrive: nothing older than the bound is served.

use std::time::Duration;

use forebay::{cache::Source, testing::Flow};

use crate::rig::{
    CLOCK, Process, Rig, entry, eventually, fill, held, invalidate, remember, served_at_best, served_for,
    source,
};

/// Enough to meet the heartbeats at several moments.
const ROUNDS: u64 = 4;

fn within_the_bound(what: &str, process: &Process, mut measured: Vec<Duration>) {
    measured.sort_unstable();
    let (bound, worst) = (process.status().staleness_bound, *measured.last().unwrap());
    println!("{what}: served for {measured:?}, bound {bound:?}");
    assert!(worst <= bound, "{what}: {worst:?} are more than {bound:?}");
}

// C37, C38: Redisson and JetCache do nothing about a broadcast that was missed.
#[tokio::test]
async fn one_lost_message_is_found_out_by_the_heartbeats() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    let mut measured = Vec::new();
    for round in 0..ROUNDS {
        let old = round.to_string();
        remember(&reader, "a", &old).await;
        CLOCK.sleep(Duration::from_millis(130 * round)).await;
        let dropped = there.proxy.dropped();
        there.proxy.drop_replies(1, " case a");
        invalidate(&writer, "a").await;
        measured.push(served_for(&reader, "a", &old, CLOCK.now()).await);
        eventually(|| there.proxy.dropped() == dropped + 1).await;
    }
    // Had the message come, these would be milliseconds.
    assert!(measured.iter().max() > Some(&Duration::from_millis(100)), "nothing was lost: {measured:?}");
    within_the_bound("one message lost", &there, measured);
}

// C36: after Redisson's connection was replaced, memory was never told anything again.
#[tokio::test]
async fn a_lost_subscription_leaves_nothing_old_in_use() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    let mut measured = Vec::new();
    for round in 0..10_u64 {
        let old = round.to_string();
        remember(&reader, "a", &old).await;
        rig.kill_subscriptions();
        CLOCK.sleep(Duration::from_millis(round)).await;
        invalidate(&writer, "a").await;
        measured.push(served_for(&reader, "a", &old, CLOCK.now()).await);
    }
    within_the_bound("subscription killed", &there, measured);
}

// C36, the other way round: what comes after the connection is back is heard.
#[tokio::test]
async fn a_new_subscription_hears_and_memory_is_used_again() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    rig.kill_subscriptions();
    remember(&reader, "a", "old").await;
    eventually(|| here.status().hears && there.status().hears).await;
    remember(&reader, "a", "old").await;
    let took = served_at_best(&writer, &reader).await;
    assert!(took < Duration::from_millis(400), "{took:?}");
}

// What was in memory before a subscription was lost is not trusted again, also when nobody has changed it.
#[tokio::test]
async fn what_was_in_memory_before_a_lost_subscription_is_asked_for_again() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    let accepted = there.proxy.accepted();
    remember(&reader, "a", "A").await;
    remember(&reader, "b", "B").await;
    rig.kill_subscriptions();
    eventually(|| there.proxy.accepted() > accepted).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Store));
    eventually(|| there.status().hears).await;
    assert_eq!(source(&reader, "b").await, Some(Source::Store));
    invalidate(&writer, "b").await;
    assert_eq!(served_for(&reader, "b", "B", CLOCK.now()).await.as_secs(), 0);
}

// C38: JetCache's broadcast was dead from the start, and nobody knew.
#[tokio::test]
async fn a_process_that_does_not_hear_itself_keeps_nothing_in_memory() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let there = rig.open_unheard(|builder| builder, |proxy| proxy.drop_replies(12, " beat ")).await;
    let (writer, reader) = (here.cache(), there.cache());
    eventually(|| there.status().usable).await;
    fill(&writer, "a", "old").await;
    for _ in 0..3 {
        assert_eq!(source(&reader, "a").await, Some(Source::Store));
    }
    assert!(!there.status().hears);
    there.proxy.drop_replies(1, " case a");
    invalidate(&writer, "a").await;
    assert_eq!(held(&reader, "a").await, None);
    eventually(|| there.status().hears).await;
    remember(&reader, "a", "new").await;
}

// C37: where a message was missed, as by Redisson, one call can read through whatever memory believes.
#[tokio::test]
async fn a_fresh_read_has_the_new_value_although_the_message_is_lost() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    remember(&reader, "a", "old").await;
    there.proxy.drop_replies(1, " case a");
    invalidate(&writer, "a").await;
    let new = reader.fresh().get_or_load("a", async |_| Ok::<_, String>("new".to_owned())).await.unwrap();
    assert_eq!(*new, "new");
    eventually(|| reader.stats().fills == 2).await;
    assert_eq!(held(&reader, "a").await.as_deref(), Some("new"));
}

// A message that comes late is no message lost.
#[tokio::test]
async fn a_message_that_is_late_is_heard_when_it_comes() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    remember(&reader, "a", "old").await;
    there.proxy.replies(Flow::Delay(Duration::from_millis(150)));
    invalidate(&writer, "a").await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    println!("message late by 150 ms: served for {took:?}");
    assert!(took <= there.status().staleness_bound, "{took:?}");
    assert!(entry(&reader, "a").await.is_none());
}

//! Heartbeats that do not arrive: whoever cannot know what it has missed trusts its memory no longer.

use std::time::Duration;

use crate::rig::{CLOCK, Process, Rig, eventually, invalidate, lasts, remember, served_for, source};
use forebay::cache::{Cache, Source};

/// How long `cache` still trusts its memory of `id`.
async fn trusted_for(cache: &Cache<String>, id: &str) -> Duration {
    lasts(CLOCK.now(), async || source(cache, id).await == Some(Source::Memory)).await
}

fn is_within_the_bound(what: &str, process: &Process, measured: Duration) {
    let bound = process.status().staleness_bound;
    println!("{what}: {measured:?}, bound {bound:?}");
    assert!(measured <= bound, "{what}: {measured:?} are more than {bound:?}");
}

// Whoever does not even hear itself hears nobody.
#[tokio::test]
async fn without_any_heartbeat_memory_is_trusted_no_longer() {
    let rig = Rig::new();
    let [_here, there] = rig.open().await;
    let reader = there.cache();
    remember(&reader, "a", "A").await;
    there.proxy.drop_replies(8, " beat ");
    is_within_the_bound("heartbeats withheld: memory trusted for", &there, trusted_for(&reader, "a").await);
    eventually(|| !there.status().hears).await;
    eventually(|| there.status().hears).await;
    remember(&reader, "a", "A").await;
}

// One who is not heard may have changed anything.
#[tokio::test]
async fn without_the_heartbeats_of_one_process_memory_is_trusted_no_longer() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    let message = rig.message_of(&writer).await;
    let beat = message.replace("f1 gone", "beat");
    let (beat, _) = beat.split_at("beat 0123456789abcdef".len());
    remember(&reader, "a", "A").await;
    there.proxy.drop_replies(6, beat);
    is_within_the_bound("heartbeats of one withheld: trusted for", &there, trusted_for(&reader, "a").await);
    eventually(|| there.status().hears).await;
}

// Heartbeats only find what was lost: a message that comes needs none.
#[tokio::test]
async fn a_change_is_heard_although_no_heartbeat_is() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    remember(&reader, "a", "old").await;
    there.proxy.drop_replies(8, " beat ");
    invalidate(&writer, "a").await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    is_within_the_bound("heartbeats withheld: old value served for", &there, took);
}

// The worst case, in which nothing at all comes of the channel.
#[tokio::test]
async fn a_lost_message_does_no_harm_although_no_heartbeat_tells_of_it() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    let mut worst = Duration::ZERO;
    for round in 0..3_u64 {
        let old = round.to_string();
        eventually(|| there.status().hears).await;
        remember(&reader, "a", &old).await;
        CLOCK.sleep(Duration::from_millis(170 * round)).await;
        there.proxy.drop_replies(6, " beat ");
        there.proxy.drop_replies(1, " case a");
        invalidate(&writer, "a").await;
        let took = served_for(&reader, "a", &old, CLOCK.now()).await;
        is_within_the_bound("message and heartbeats withheld: old value served for", &there, took);
        worst = worst.max(took);
    }
    assert!(worst > Duration::from_millis(100), "nothing was lost: {worst:?}");
}

// The heartbeats of the process that changes are lost on its own way to the server.
#[tokio::test]
async fn a_process_that_cannot_be_heard_is_not_trusted_to_be_silent() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    remember(&reader, "a", "old").await;
    let gaps = there.status().gaps;
    here.proxy.refuse();
    here.proxy.cut();
    eventually(|| there.status().gaps > gaps).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Store));
    here.proxy.accept();
    eventually(|| here.status().usable).await;
    remember(&reader, "a", "old").await;
    invalidate(&writer, "a").await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    is_within_the_bound("the writer was cut off: old value served for", &there, took);
}

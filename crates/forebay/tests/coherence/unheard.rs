//! Memory that is believed until its local life is over, whatever may have been missed.

use std::time::Duration;

use forebay::cache::{Cache, Coherence, Loaded, Put, Source};

use crate::rig::{
    CLOCK, LIFE, Process, Rig, eventually, held, invalidate, remember, served_at_best, served_for, source,
};

/// The local life in these tests: longer than it takes to find out that a message was lost.
const LOCAL: Duration = Duration::from_millis(2_500);

fn believing(process: &Process, local: Duration) -> Cache<String> {
    process.builder().coherence(Coherence::TtlOnly).local_time_to_live(local).build().unwrap()
}

#[tokio::test]
async fn a_lost_message_is_noticed_at_the_end_of_the_local_life_and_no_earlier() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), believing(&there, LOCAL));
    remember(&reader, "a", "old").await;
    let (remembered, gaps) = (CLOCK.now(), there.status().gaps);
    there.proxy.drop_replies(1, " case a");
    invalidate(&writer, "a").await;
    eventually(|| there.status().gaps > gaps).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Memory));
    let took = served_for(&reader, "a", "old", remembered).await;
    assert!(took <= LOCAL + Duration::from_millis(50), "{took:?}");
}

#[tokio::test]
async fn a_process_that_hears_nothing_goes_on_with_what_it_has() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = believing(&here, LIFE);
    remember(&reader, "a", "A").await;
    here.proxy.drop_replies(1_000, " beat ");
    rig.kill_subscriptions();
    eventually(|| !here.status().hears).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Memory));
    // What comes while nothing is heard is believed as well.
    remember(&reader, "b", "B").await;
}

#[tokio::test]
async fn without_redis_and_after_it_memory_is_what_it_was() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let reader = believing(&here, LIFE);
    remember(&reader, "a", "A").await;
    rig.redis.kill();
    eventually(|| !here.status().usable).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Memory));
    rig.redis.restart();
    eventually(|| here.status().usable && here.status().hears).await;
    assert_eq!(source(&reader, "a").await, Some(Source::Memory));
}

#[tokio::test]
async fn what_is_heard_takes_effect_at_once_and_so_do_changes_of_its_own() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), believing(&there, LIFE));
    let took = served_at_best(&writer, &reader).await;
    assert!(took < Duration::from_millis(400), "{took:?}");
    for (id, change) in [("a", "invalidated"), ("b", "cleared")] {
        remember(&reader, id, "old").await;
        match change {
            "cleared" => drop(reader.clear().await),
            _ => invalidate(&reader, id).await,
        }
        assert_eq!(held(&reader, id).await, None, "{change}");
    }
}

// The store is asked whether an entry is current by what is heard, not by what memory believes.
#[tokio::test]
async fn what_the_store_has_is_not_believed_when_its_tag_was_invalidated_unheard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), believing(&there, Duration::from_millis(200)));
    let tagged = Loaded::new("old".to_owned()).tag("t");
    assert_eq!(writer.put("a", tagged).await.unwrap(), Put::Stored);
    assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
    there.proxy.drop_replies(1, " tag ");
    let dropped = there.proxy.dropped();
    writer.invalidate_tag("t").await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    assert_eq!(there.proxy.dropped(), dropped + 1);
    assert!(took <= there.status().staleness_bound + Duration::from_millis(200), "{took:?}");
}

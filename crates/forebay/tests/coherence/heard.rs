//! What one process changes, the memory of the others no longer has, within milliseconds.

use std::time::Duration;

use forebay::{
    Forebay,
    cache::{Cache, Put, Source},
};

use crate::rig::{
    CLOCK, LIFE, Origin, Process, Rig, fill, held, invalidate, remember, served_at_best, served_for, source,
};

/// Far more than a message needs, far less than a heartbeat would take to tell.
const SOON: Duration = Duration::from_millis(400);

const ROUNDS: usize = 20;

/// Has `change` change a value that `there` remembers, and says how long that is served.
async fn measure(what: &str, there: &Process, reader: &Cache<String>, change: impl AsyncFn(&str)) {
    let mut measured = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("{what}-{round}");
        remember(reader, &id, "old").await;
        change(&id).await;
        measured.push(served_for(reader, &id, "old", CLOCK.now()).await);
    }
    measured.sort_unstable();
    let (median, worst) = (measured[ROUNDS / 2], measured[ROUNDS - 1]);
    println!("{what}: old value served for {median:?} (median), {worst:?} (worst of {ROUNDS})");
    assert!(median < SOON, "{what}: {measured:?}");
    assert!(worst <= there.status().staleness_bound, "{what}: {measured:?}");
}

#[tokio::test]
async fn an_invalidate_is_heard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    measure("invalidate", &there, &reader, async |id| invalidate(&writer, id).await).await;
}

#[tokio::test]
async fn a_put_is_heard() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    measure("put", &there, &reader, async |id| {
        assert_eq!(writer.put(id, "new".to_owned()).await.unwrap(), Put::Stored);
    })
    .await;
    assert_eq!(held(&reader, "put-0").await.as_deref(), Some("new"));
}

#[tokio::test]
async fn an_expire_is_heard_and_the_old_value_stands_in() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let writer = here.builder().stale_for(LIFE).build().unwrap();
    let reader = there.builder().stale_for(LIFE).build().unwrap();
    measure("expire", &there, &reader, async |id| {
        writer.expire(id).await;
    })
    .await;
    let failing = Origin::ready();
    let answer = failing.call(&reader, "expire-0", Err("down")).await.unwrap();
    assert_eq!((answer.unwrap().as_str(), failing.calls()), ("old", 1));
}

// A message of one's own that comes late is no news, one of somebody else is.
#[tokio::test]
async fn own_messages_leave_alone_what_was_loaded_since() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (cache, other) = (here.cache(), there.cache());
    let (own, foreign) = (rig.message_of(&cache).await, rig.message_of(&other).await);
    let say = |message: &str| rig.redis.call(&["PUBLISH", "forebay:rig:invalidate", message]);
    let mut kept = false;
    for _ in 0..5 {
        remember(&cache, "who", "new").await;
        say(&own);
        CLOCK.sleep(Duration::from_millis(50)).await;
        kept |= source(&cache, "who").await == Some(Source::Memory);
    }
    assert!(kept);
    remember(&cache, "who", "new").await;
    say(&foreign);
    CLOCK.sleep(Duration::from_millis(50)).await;
    assert_eq!(source(&cache, "who").await, Some(Source::Store));
}

#[tokio::test]
async fn two_of_one_app_in_one_process_hear_each_other() {
    let rig = Rig::new();
    let open = async || Forebay::builder("rig").redis(rig.redis.url()).build().await.unwrap();
    let spaces = [open().await, open().await].map(|one| one.cache::<String>("case", LIFE).build().unwrap());
    for (writer, reader) in [(&spaces[0], &spaces[1]), (&spaces[1], &spaces[0])] {
        assert!(served_at_best(writer, reader).await < SOON);
    }
}

#[tokio::test]
async fn other_apps_and_other_spaces_are_left_alone() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let writer = here.cache();
    let other_space = there.forebay.cache::<String>("other", LIFE).build().unwrap();
    let other_app = Forebay::builder("rig.two").redis(rig.redis.url()).build().await.unwrap();
    let other_app = other_app.cache::<String>("case", LIFE).build().unwrap();
    for cache in [&other_space, &other_app] {
        remember(cache, "a", "theirs").await;
    }
    let gaps = there.status().gaps;
    fill(&writer, "a", "ours").await;
    invalidate(&writer, "a").await;
    for cache in [&other_space, &other_app] {
        assert_eq!(held(cache, "a").await.as_deref(), Some("theirs"));
    }
    CLOCK.sleep(Duration::from_millis(50)).await;
    let remembers = source(&other_space, "a").await == Some(Source::Memory);
    assert!(remembers || there.status().gaps > gaps);
}

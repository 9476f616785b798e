//! Values that are invalidated together, across processes.

use std::time::Duration;

use forebay::cache::{Cache, Invalidated, Loaded, Put, Source};

use crate::rig::{CLOCK, Rig, eventually, held, served_for, source, value_key};

const RED: &str = "tag:rig:{case}:red";
const SPACE: &str = "tags:rig:{case}";

async fn put(cache: &Cache<String>, id: &str, value: &str) {
    let loaded = Loaded::new(value.to_owned()).tag("red");
    assert_eq!(cache.put(id, loaded).await.unwrap(), Put::Stored);
}

/// Reads `id` until it is in the memory of `cache`, as `value`, which is stored already.
async fn remember(cache: &Cache<String>, id: &str, value: &str) {
    let began = CLOCK.now();
    while source(cache, id).await != Some(Source::Memory) {
        assert_eq!(held(cache, id).await.as_deref(), Some(value));
        assert!(CLOCK.now().since(began) < Duration::from_secs(10), "{id} does not stay in memory");
    }
}

async fn invalidate(cache: &Cache<String>) {
    assert_eq!(cache.invalidate_tag("red").await, Invalidated::Everywhere);
}

// C7: HybridCache dotnet/extensions #7771, where a process that has not read the value before does not see it.
#[tokio::test]
async fn who_reads_for_the_first_time_sees_what_another_process_has_invalidated() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    put(&here.cache(), "a", "old").await;
    invalidate(&there.cache()).await;
    let cold = rig.open_with(|builder| builder).await;
    assert_eq!(held(&cold.cache(), "a").await, None);
}

#[tokio::test]
async fn what_another_process_invalidates_leaves_memory_within_a_moment() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    for group in ["red", "all"] {
        put(&writer, "a", "old").await;
        remember(&reader, "a", "old").await;
        match group {
            "red" => invalidate(&writer).await,
            _ => assert_eq!(writer.clear().await, Invalidated::Everywhere),
        }
        let took = served_for(&reader, "a", "old", CLOCK.now()).await;
        assert!(took < Duration::from_millis(400), "{group}: {took:?}");
    }
}

// C8: dotnet/extensions #7411, where a process keeps what it knows of a tag for ever.
#[tokio::test]
async fn an_invalidated_tag_is_seen_within_the_bound_though_its_message_is_lost() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    for (group, message) in [("red", " case red "), ("all", " case - ")] {
        put(&writer, "a", "old").await;
        remember(&reader, "a", "old").await;
        let dropped = there.proxy.dropped();
        there.proxy.drop_replies(1, message);
        match group {
            "red" => invalidate(&writer).await,
            _ => assert_eq!(writer.clear().await, Invalidated::Everywhere),
        }
        let took = served_for(&reader, "a", "old", CLOCK.now()).await;
        eventually(|| there.proxy.dropped() == dropped + 1).await;
        println!("{group}: served for {took:?}");
        assert!(took <= there.status().staleness_bound, "{group}: {took:?}");
    }
}

// C8, where nothing at all is heard: what is read is looked at by numbers that are read behind it.
#[tokio::test]
async fn a_process_that_hears_nothing_uses_nothing_that_was_invalidated() {
    let rig = Rig::new();
    let here = rig.open_with(|builder| builder).await;
    let there = rig.open_unheard(|builder| builder, |proxy| proxy.drop_replies(1000, " beat ")).await;
    let (writer, reader) = (here.cache(), there.cache());
    eventually(|| there.status().usable).await;
    for _ in 0..5 {
        put(&writer, "a", "old").await;
        assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
        invalidate(&writer).await;
        assert_eq!(held(&reader, "a").await, None);
        put(&writer, "a", "old").await;
        assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
        assert_eq!(writer.clear().await, Invalidated::Everywhere);
        assert_eq!(held(&reader, "a").await, None);
    }
    assert!(!there.status().hears);
}

#[tokio::test]
async fn a_value_that_was_invalidated_stays_so_when_the_numbers_are_lost() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    for lost in [&[RED][..], &[SPACE], &[RED, SPACE]] {
        put(&writer, "a", "old").await;
        let old = rig.redis.raw(&[b"DUMP", value_key("a").as_bytes()]);
        let forebay_rig::Reply::Bytes(old) = old else { panic!("{old}") };
        invalidate(&writer).await;
        rig.redis.call(&[&["DEL"], lost].concat());
        let cold = rig.open_with(|builder| builder).await;
        let cold = cold.cache();
        // Other values make the numbers anew.
        put(&writer, "b", "new").await;
        let key = value_key("a");
        let restored = [&b"RESTORE"[..], key.as_bytes(), b"60000", &old, b"REPLACE"];
        assert_eq!(rig.redis.raw(&restored).to_string(), "OK");
        for cache in [&writer, &reader, &cold] {
            assert_eq!(held(cache, "a").await, None, "{lost:?}");
        }
        assert_eq!(held(&cold, "b").await.as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn without_numbers_what_is_stored_is_a_miss_until_it_is_loaded_again() {
    let rig = Rig::new();
    let [here] = rig.open().await;
    put(&here.cache(), "a", "old").await;
    for lost in [RED, SPACE] {
        rig.redis.call(&["DEL", lost]);
        let cold = rig.open_with(|builder| builder).await;
        let cache = cold.cache();
        assert_eq!(held(&cache, "a").await, None, "{lost}");
        put(&cache, "a", "new").await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("new"), "{lost}");
    }
}

/// How often the server was asked to do something for the invalidation of a tag, and of a whole space.
fn work(rig: &Rig) -> [u64; 6] {
    ["evalsha", "eval", "scan", "del", "unlink", "set"].map(|command| rig.redis.calls(command))
}

#[tokio::test]
async fn a_hundred_thousand_values_are_invalidated_in_one_step() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (here.cache(), there.cache());
    for group in ["red", "all"] {
        put(&writer, "a", "old").await;
        let copy = "local bytes = redis.call('GET', KEYS[1])
            for n = 1, 100000 do redis.call('SET', 'cache:rig:case:v1:{' .. n .. '}', bytes, 'PX', 60000) end";
        rig.redis.call(&["EVAL", copy, "1", &value_key("a")]);
        for id in ["1", "50000", "100000"] {
            assert_eq!(held(&reader, id).await.as_deref(), Some("old"));
        }
        // The script is known to the server from here on.
        assert_eq!(writer.invalidate_tag("other").await, Invalidated::Everywhere);
        let before = work(&rig);
        let done = if group == "red" { writer.invalidate_tag("red").await } else { writer.clear().await };
        assert_eq!(done, Invalidated::Everywhere);
        let after = work(&rig);
        let steps: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(steps, [1, 0, 0, 0, 0, u64::from(group == "red")], "{group}");
        for n in (1..=100_000).step_by(997) {
            assert_eq!(held(&writer, &n.to_string()).await, None, "{group}: {n}");
        }
        for id in ["1", "50000", "100000"] {
            served_for(&reader, id, "old", CLOCK.now()).await;
        }
    }
}

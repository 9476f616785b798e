//! Tags and whole spaces that are invalidated while Redis does not confirm it: done here at once, there later.

use std::time::Duration;

use forebay::cache::{Cache, Invalidated, Loaded, Put};

use crate::{
    stage::{Stage, read},
    timing::{pass, timed},
};

/// The numbers of the space.
const NUMBERS: &str = "tags:outage:{texts}";

fn red(value: &str) -> Loaded<String> {
    Loaded::new(value.to_owned()).tag("red")
}

/// Reads `id`, whose loader brings `value` with the tag.
async fn read_red(cache: &Cache<String>, id: &str, value: &str) -> String {
    let loaded = red(value);
    let read = cache.get_or_load(id, async move |_| Ok::<_, std::convert::Infallible>(loaded)).await;
    read.expect("no caller sees an error").to_string()
}

#[tokio::test]
async fn a_tag_that_is_invalidated_during_an_outage_is_done_before_its_values_are_read_again() {
    let stage = Stage::new().await;
    stage.put("a", red("old")).await;
    stage.put("b", Loaded::new("B".to_owned())).await;
    assert_eq!(read_red(&stage.cache, "a", "new").await, "old");
    assert_eq!(stage.read("b", "new").await, "B");
    stage.redis.pause();
    let (took, done) = timed(stage.cache.invalidate_tag("red")).await;
    assert_eq!(done, Invalidated::Deferred);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(stage.status().deferred, 1);
    assert_eq!(read_red(&stage.cache, "a", "new").await, "new");
    assert_eq!(stage.read("b", "new").await, "B");
    stage.redis.resume();
    stage.settled().await;
    let (_forebay, neighbour) = stage.neighbour().await;
    assert_eq!(read(&neighbour, "a", "newer").await, "newer");
    assert_eq!(read(&neighbour, "b", "new").await, "B");
}

#[tokio::test]
async fn a_space_that_is_cleared_during_an_outage_is_done_before_it_is_read_again() {
    let stage = Stage::new().await;
    stage.put("a", red("old")).await;
    stage.fill("b", "old").await;
    assert_eq!(read_red(&stage.cache, "a", "new").await, "old");
    assert_eq!(stage.read("b", "new").await, "old");
    stage.redis.pause();
    assert_eq!(stage.cache.clear().await, Invalidated::Deferred);
    for id in ["a", "b"] {
        assert_eq!(stage.read(id, "new").await, "new");
    }
    stage.redis.resume();
    stage.settled().await;
    let (_forebay, neighbour) = stage.neighbour().await;
    for id in ["a", "b"] {
        assert_ne!(read(&neighbour, id, "newer").await, "old");
    }
}

// Redis answers, and confirms nothing: what has the tag is loaded each time, and whatever else is stored and read.
#[tokio::test]
async fn what_has_a_tag_that_is_not_confirmed_is_neither_read_nor_stored_though_others_are() {
    let stage = Stage::new().await;
    stage.put("a", red("old")).await;
    stage.call(&["ACL", "SETUSER", "default", "resetchannels"]).await;
    assert_eq!(stage.cache.invalidate_tag("red").await, Invalidated::Deferred);
    for n in 1..4 {
        assert_eq!(read_red(&stage.cache, "a", &n.to_string()).await, n.to_string());
    }
    assert_eq!(read_red(&stage.cache, "c", "1").await, "1");
    pass(Duration::from_millis(50)).await;
    assert!(!stage.stores("c").await);
    stage.fill("b", "1").await;
    assert!(stage.status().usable && stage.status().deferred == 1, "{:?}", stage.status());
    stage.call(&["ACL", "SETUSER", "default", "allchannels"]).await;
    stage.settled().await;
    assert_eq!(read_red(&stage.cache, "a", "last").await, "last");
}

// The numbers of the space have grown meanwhile, and this process has not heard of it.
#[tokio::test]
async fn a_tag_that_is_not_confirmed_is_passed_whatever_others_have_raised() {
    let stage = Stage::new().await;
    stage.put("a", red("old")).await;
    let now: u64 = stage.call(&["HGET", NUMBERS, "now"]).await.parse().expect("the space has a number");
    stage.call(&["HSET", NUMBERS, "now", &(now + 1_000_000_000).to_string()]).await;
    let (_forebay, neighbour) = stage.neighbour().await;
    assert_eq!(neighbour.put("b", red("old")).await.expect("it can be stored"), Put::Stored);
    stage.call(&["ACL", "SETUSER", "default", "resetchannels"]).await;
    assert_eq!(stage.cache.invalidate_tag("red").await, Invalidated::Deferred);
    assert_eq!(read_red(&stage.cache, "b", "new").await, "new");
    assert_eq!(stage.cache.get("b").await, None);
    stage.call(&["ACL", "SETUSER", "default", "allchannels"]).await;
    stage.settled().await;
    stage.put("b", red("last")).await;
    assert_eq!(read_red(&stage.cache, "b", "never").await, "last");
}

#[tokio::test]
async fn what_is_loaded_without_redis_is_invalidated_by_its_tag_and_as_a_whole() {
    let stage = Stage::new().await;
    stage.redis.pause();
    stage.give_up().await;
    assert_eq!(read_red(&stage.cache, "a", "1").await, "1");
    assert_eq!(read_red(&stage.cache, "a", "2").await, "1");
    stage.cache.invalidate_tag("red").await;
    assert_eq!(read_red(&stage.cache, "a", "3").await, "3");
    assert_eq!(read_red(&stage.cache, "a", "4").await, "3");
    stage.cache.clear().await;
    assert_eq!(read_red(&stage.cache, "a", "5").await, "5");
    stage.redis.resume();
}

//! Another server in the place of the old one may have what was invalidated there: nobody is served that.

use std::time::Duration;

use forebay::cache::{Invalidated, Loaded};

use crate::{
    stage::{Stage, key},
    timing::pass,
};

/// The numbers of the space.
const NUMBERS: &str = "tags:outage:{texts}";

/// Kills the server, and puts an old value, and the numbers that the space had, into the empty one in its place, which
/// the process does not see before the proxy accepts connections.
async fn resurrect(stage: &Stage, proxy: &forebay::testing::Proxy, id: &str, old: &[u8]) {
    proxy.refuse();
    proxy.cut();
    let numbers = stage.call(&["HMGET", NUMBERS, "now", "clear"]).await;
    let [now, clear] = numbers.lines().collect::<Vec<_>>().try_into().expect("the space has numbers");
    stage.given_up().await;
    stage.restart().await;
    stage.call(&["HSET", NUMBERS, "now", now, "clear", clear]).await;
    stage.call(&["PEXPIRE", NUMBERS, "600000"]).await;
    let (redis, key, old) = (stage.redis.clone(), key(id), old.to_vec());
    let set = move || redis.raw(&[b"SET", key.as_bytes(), &old, b"PX", b"600000"]);
    let set = tokio::task::spawn_blocking(set).await.expect("the server answers");
    assert_eq!(set.to_string(), "OK");
}

async fn bytes(stage: &Stage, id: &str) -> Vec<u8> {
    let (redis, key) = (stage.redis.clone(), key(id));
    let got = tokio::task::spawn_blocking(move || redis.raw(&[b"GET", key.as_bytes()]));
    match got.await.expect("the server answers") {
        forebay_rig::Reply::Bytes(bytes) => bytes,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn what_was_invalidated_on_the_old_server_is_not_served_from_the_new_one() {
    let (stage, proxy) = Stage::behind_proxy().await;
    stage.fill("a", "old").await;
    let old = bytes(&stage, "a").await;
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Everywhere);
    resurrect(&stage, &proxy, "a", &old).await;
    proxy.accept();
    loop {
        let value = stage.read("a", "new").await;
        assert_eq!(value, "new", "{:?}", stage.status());
        if stage.status().usable && stage.status().deferred == 0 {
            break;
        }
        pass(Duration::from_millis(1)).await;
    }
    assert_ne!(bytes_or_none(&stage, "a").await, Some(old));
}

#[tokio::test]
async fn a_tag_that_was_invalidated_on_the_old_server_is_on_the_new_one() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let tagged = || Loaded::new("old".to_owned()).tag("red");
    stage.put("a", tagged()).await;
    let old = bytes(&stage, "a").await;
    assert_eq!(stage.cache.invalidate_tag("red").await, Invalidated::Everywhere);
    resurrect(&stage, &proxy, "a", &old).await;
    stage.call(&["SET", "tag:outage:{texts}:red", "1", "PX", "600000"]).await;
    proxy.accept();
    loop {
        let value = stage.read("a", "new").await;
        assert_eq!(value, "new", "{:?}", stage.status());
        if stage.status().usable && stage.status().deferred == 0 {
            break;
        }
        pass(Duration::from_millis(1)).await;
    }
    let raised = stage.call(&["GET", "tag:outage:{texts}:red"]).await;
    assert!(raised.parse::<u64>().expect("a number") > 1);
}

#[tokio::test]
async fn what_was_stored_on_the_new_server_by_others_is_used() {
    let (stage, proxy) = Stage::behind_proxy().await;
    stage.fill("a", "theirs").await;
    let theirs = bytes(&stage, "a").await;
    resurrect(&stage, &proxy, "a", &theirs).await;
    proxy.accept();
    stage.in_use().await;
    assert_eq!(stage.read("a", "mine").await, "theirs");
}

#[tokio::test]
async fn a_replay_is_told_to_the_other_processes() {
    let (stage, proxy) = Stage::behind_proxy().await;
    stage.fill("a", "old").await;
    let old = bytes(&stage, "a").await;
    stage.cache.invalidate("a").await;
    resurrect(&stage, &proxy, "a", &old).await;
    let (_forebay, neighbour) = stage.neighbour().await;
    assert_eq!(crate::stage::read(&neighbour, "a", "new").await, "old");
    proxy.accept();
    stage.in_use().await;
    stage.settled().await;
    pass(Duration::from_millis(100)).await;
    assert_eq!(crate::stage::read(&neighbour, "a", "new").await, "new");
}

async fn bytes_or_none(stage: &Stage, id: &str) -> Option<Vec<u8>> {
    match stage.stores(id).await {
        true => Some(bytes(stage, id).await),
        false => None,
    }
}

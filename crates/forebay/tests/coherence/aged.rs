//! What another process has expired: out of use in memory, and there as a stale value while the server cannot be asked.

use std::time::Duration;

use forebay::cache::{Cache, Invalidated, Source};

use crate::rig::{CLOCK, LIFE, Origin, Process, Rig, eventually, fill, lasts, remember, source};

/// Two processes whose second has `old` in memory, which the first has then expired.
async fn expired(rig: &Rig, stale_for: Duration) -> (Process, Cache<String>) {
    let [here, there] = rig.open().await;
    let [writer, reader] = [&here, &there].map(|one| one.builder().stale_for(stale_for).build().unwrap());
    fill(&writer, "a", "old").await;
    remember(&reader, "a", "old").await;
    assert_eq!(writer.expire("a").await, Invalidated::Everywhere);
    let began = CLOCK.now();
    lasts(began, async || source(&reader, "a").await == Some(Source::Memory)).await;
    (there, reader)
}

#[tokio::test]
async fn what_another_process_expired_is_loaded_anew() {
    let rig = Rig::new();
    let (_there, reader) = expired(&rig, LIFE).await;
    assert_eq!(*Origin::ready().call(&reader, "a", Ok("new")).await.unwrap().unwrap(), "new");
}

#[tokio::test]
async fn what_another_process_expired_stands_in_while_neither_server_nor_origin_answers() {
    let rig = Rig::new();
    let (there, reader) = expired(&rig, LIFE).await;
    rig.redis.pause();
    eventually(|| !there.status().usable).await;
    assert_eq!(*Origin::ready().call(&reader, "a", Err("down")).await.unwrap().unwrap(), "old");
    assert_eq!(*Origin::ready().call(&reader, "a", Ok("new")).await.unwrap().unwrap(), "new");
    rig.redis.resume();
}

#[tokio::test]
async fn what_is_not_kept_stale_is_gone_once_another_process_expired_it() {
    let rig = Rig::new();
    let (there, reader) = expired(&rig, Duration::ZERO).await;
    rig.redis.pause();
    eventually(|| !there.status().usable).await;
    assert!(Origin::ready().call(&reader, "a", Err("down")).await.unwrap().is_err());
    rig.redis.resume();
}

//! A server that refuses to store what it is given: what this process keeps instead is no older than the rest.

use std::time::Duration;

use forebay::cache::{Cache, Filled, Lease, Lookup};

use crate::rig::{CLOCK, LIFE, Rig, eventually, held, invalidate, served_for};

async fn leased(cache: &Cache<String>) -> Lease<String> {
    match cache.lookup("a", LIFE).await {
        Lookup::Lease(lease) => lease,
        other => panic!("no lease: {other:?}"),
    }
}

/// What is filled beside a server with `fault`, while the message that it is old is lost.
async fn is_not_trusted(fault: &[&str]) {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (writer, reader) = (there.cache(), here.cache());
    assert_eq!(rig.redis.call(fault), "OK");
    assert_eq!(leased(&reader).await.fill("old".to_owned()).await.unwrap(), Filled::Deferred);
    assert_eq!(held(&reader, "a").await.as_deref(), Some("old"));
    here.proxy.drop_replies(1, " case a");
    invalidate(&writer, "a").await;
    let took = served_for(&reader, "a", "old", CLOCK.now()).await;
    println!("{fault:?}: old value served for {took:?}");
    assert!(took <= here.status().staleness_bound, "{took:?}");
    assert_eq!(here.proxy.dropped(), 1, "nothing was lost");
    let lease = leased(&reader).await;
    assert!(lease.stale().is_none());
    drop(lease);
    eventually(|| here.status().hears).await;
    CLOCK.sleep(Duration::from_millis(50)).await;
    assert_eq!(held(&reader, "a").await, None);
}

#[tokio::test]
async fn what_a_server_without_memory_did_not_store_is_not_trusted_once_a_message_was_lost() {
    is_not_trusted(&["CONFIG", "SET", "maxmemory", "1"]).await;
}

#[tokio::test]
async fn what_was_leased_by_this_process_alone_is_not_trusted_once_a_message_was_lost() {
    is_not_trusted(&["ACL", "SETUSER", "default", "-hset"]).await;
}

//! Changes that Redis has not confirmed: done before this process uses the key again, and lost by none.

use std::time::Duration;

use forebay::{
    Forebay,
    cache::{Cache, Filled, Invalidated, Lookup, Put, Returned},
};

use crate::{
    stage::{PATIENCE, Stage, read},
    timing::{now, pass, timed, until},
};

/// More than are kept one by one.
const MANY: usize = 10_050;

#[tokio::test]
async fn an_invalidation_during_an_outage_is_done_before_the_key_is_read_again() {
    let stage = Stage::new().await;
    stage.fill("a", "1").await;
    stage.redis.pause();
    let (took, done) = timed(stage.cache.invalidate("a")).await;
    assert_eq!(done, Invalidated::Deferred);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(stage.status().deferred, 1);
    assert_eq!(stage.read("a", "2").await, "2");
    assert_eq!(stage.read("a", "3").await, "2");
    stage.redis.resume();
    let settled = stage.settled().await;
    assert!(!stage.stores("a").await, "the old value is there after {settled:?}");
    assert!(settled < Duration::from_secs(3), "{settled:?}");
    assert_ne!(stage.read("a", "4").await, "1");
}

#[tokio::test]
async fn the_old_value_is_never_read_while_the_server_comes_back() {
    let stage = Stage::new().await;
    let cache = stage.forebay.cache::<String>("plain", Duration::from_secs(600));
    let cache = cache.local_time_to_live(Duration::ZERO).build().expect("nothing to refuse");
    cache.put("a", "old".to_owned()).await.expect("it can be stored");
    assert_eq!(read(&cache, "a", "new").await, "old");
    stage.redis.pause();
    assert_eq!(cache.invalidate("a").await, Invalidated::Deferred);
    stage.give_up().await;
    stage.redis.resume();
    while !stage.status().usable || stage.status().deferred > 0 {
        assert_eq!(read(&cache, "a", "new").await, "new", "{:?}", stage.status());
        pass(Duration::from_millis(1)).await;
    }
    assert_eq!(read(&cache, "a", "new").await, "new");
}

#[tokio::test]
async fn a_key_with_a_deferred_invalidation_is_not_written_though_others_are() {
    let stage = Stage::new().await;
    // Whoever may not publish can read and write, and no change is confirmed to him.
    stage.call(&["ACL", "SETUSER", "default", "resetchannels"]).await;
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Deferred);
    assert_eq!(stage.read("a", "1").await, "1");
    stage.fill("b", "1").await;
    assert!(!stage.stores("a").await);
    assert!(stage.status().usable && stage.status().deferred == 1, "{:?}", stage.status());
    stage.call(&["ACL", "SETUSER", "default", "allchannels"]).await;
    stage.settled().await;
}

#[tokio::test]
async fn a_deferred_invalidation_reaches_the_memory_of_other_processes() {
    let stage = Stage::new().await;
    let (_forebay, neighbour) = stage.neighbour().await;
    stage.fill("a", "old").await;
    assert_eq!(read(&neighbour, "a", "new").await, "old");
    stage.redis.pause();
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Deferred);
    stage.redis.resume();
    stage.settled().await;
    pass(Duration::from_millis(100)).await;
    assert_eq!(read(&neighbour, "a", "new").await, "new");
}

#[tokio::test]
async fn a_put_during_an_outage_invalidates_and_stores_nothing() {
    let stage = Stage::new().await;
    stage.fill("a", "1").await;
    stage.redis.pause();
    assert_eq!(stage.cache.put("a", "2".to_owned()).await.expect("it can be stored"), Put::Deferred);
    stage.redis.resume();
    stage.settled().await;
    stage.in_use().await;
    assert!(!stage.stores("a").await);
    assert_eq!(stage.read("a", "3").await, "3");
}

#[tokio::test]
async fn an_expiry_during_an_outage_is_done_later() {
    let stage = Stage::new().await;
    stage.fill("a", "1").await;
    stage.redis.pause();
    assert_eq!(stage.cache.expire("a").await, Invalidated::Deferred);
    stage.redis.resume();
    stage.settled().await;
    assert!(!stage.stores("a").await, "a value without a stale life outlives its expiry");
}

#[tokio::test]
async fn changes_that_cannot_be_done_are_not_in_the_way_of_others() {
    let stage = Stage::new().await;
    stage.call(&["ACL", "SETUSER", "default", "resetkeys", "~*granted*"]).await;
    stage.redis.pause();
    stage.give_up().await;
    stage.cache.invalidate_many((0..700).map(|n| format!("denied-{n}"))).await;
    stage.cache.invalidate_many((0..20).map(|n| format!("granted-{n}"))).await;
    stage.redis.resume();
    let granted = until(Duration::from_secs(5), || stage.status().deferred == 700).await;
    assert!(granted.is_some(), "{:?}", stage.status());
    stage.call(&["ACL", "SETUSER", "default", "allkeys"]).await;
    stage.settled().await;
}

async fn space(forebay: &Forebay, name: &str) -> Cache<String> {
    let cache = forebay.cache::<String>(name, Duration::from_secs(600)).build().expect("nothing to refuse");
    let began = now();
    while cache.put("kept", "1".to_owned()).await.expect("it can be stored") != Put::Stored {
        assert!(began.elapsed() < PATIENCE, "nothing can be put into {name}: {:?}", forebay.status());
        pass(Duration::from_millis(20)).await;
    }
    cache
}

#[tokio::test]
async fn more_invalidations_than_are_kept_clear_their_space_and_no_other() {
    let stage = Stage::new().await;
    let ids: Vec<String> = (0..MANY).map(|n| n.to_string()).collect();
    stage.cache.put("bystander", "1".to_owned()).await.expect("it can be stored");
    stage.cache.put("7", "1".to_owned()).await.expect("it can be stored");
    let other_space = space(&stage.forebay, "texts2").await;
    let other =
        Forebay::builder("outage2").redis(stage.redis.url()).build().await.expect("Redis is optional");
    let other_app = space(&other, "texts").await;
    stage.redis.pause();
    stage.give_up().await;
    assert_eq!(stage.cache.invalidate_many(&ids).await, Invalidated::Deferred);
    assert_eq!(stage.status().deferred, 1);
    assert_eq!(stage.read("bystander", "2").await, "2");
    stage.redis.resume();
    let (took, _) = timed(stage.settled()).await;
    let (_forebay, neighbour) = stage.neighbour().await;
    assert!(neighbour.get("bystander").await.is_none() && neighbour.get("7").await.is_none());
    assert_eq!(read(&other_space, "kept", "2").await, "1");
    assert_eq!(read(&other_app, "kept", "2").await, "1");
    println!("a space was cleared in {took:?}");
}

#[tokio::test]
async fn clearing_a_space_overtakes_the_loads_of_other_processes() {
    let stage = Stage::new().await;
    let (_forebay, neighbour) = stage.neighbour().await;
    let Lookup::Lease(mut lease) = neighbour.lookup("7", Duration::ZERO).await else { panic!("no lease") };
    stage.redis.pause();
    stage.give_up().await;
    stage.cache.invalidate_many((0..MANY).map(|n| n.to_string())).await;
    stage.redis.resume();
    stage.settled().await;
    let began = now();
    while lease.renew(Duration::from_secs(5)).await == Returned::Unavailable {
        assert!(began.elapsed() < PATIENCE, "the lease cannot be renewed");
        pass(Duration::from_millis(20)).await;
    }
    let filled = lease.fill("old".to_owned()).await.expect("it can be stored");
    assert_eq!(filled, Filled::Lost, "a load begun before its key was invalidated is stored");
    assert!(!stage.stores("7").await);
}

//! Locks that replicas must have confirmed.

use std::time::Duration;

use forebay::lock::{Lock, LockError};
use forebay_rig::Redis;

use crate::{
    limits::patient,
    locks::{is_free, locks, take},
    stage::{PATIENCE, Stage},
    timing::{pass, timed, until},
};

const LOCK: &str = "lock:outage:{a}";

/// A replica of the server, which has what that has.
async fn follow(stage: &Stage) -> Redis {
    let replica = Redis::start();
    replica.call(&["REPLICAOF", "127.0.0.1", &stage.redis.port().to_string()]);
    let linked = || replica.call(&["INFO", "replication"]).contains("master_link_status:up");
    until(PATIENCE, linked).await.expect("a server can be followed");
    replica
}

fn confirmed(lock: Lock, within: u64) -> Lock {
    lock.replicas(1, Duration::from_millis(within)).time_to_live(Duration::from_secs(20))
}

// L8: the new server has the lock, and its fence.
#[tokio::test]
async fn a_lock_that_was_confirmed_outlives_its_server() {
    let stage = Stage::new().await;
    let replica = follow(&stage).await;
    let forebay = patient(stage.redis.url()).await;
    let guard = take(&confirmed(forebay.lock("a"), 1_000)).await;
    stage.redis.kill();
    assert_eq!(replica.call(&["REPLICAOF", "NO", "ONE"]), "OK");
    let after = patient(replica.url()).await.lock("a");
    assert!(!is_free(&after).await);
    assert!(after.release(guard.token()).await.expect("Redis can be asked"));
    assert!(take(&after).await.fence() > guard.fence());
}

#[tokio::test]
async fn a_lock_that_nobody_confirms_is_not_had_and_given_back() {
    let stage = Stage::new().await;
    let forebay = patient(stage.redis.url()).await;
    let lock = confirmed(forebay.lock("a"), 200);
    is_not_had(&stage, &lock).await;
    let replica = follow(&stage).await;
    drop(take(&lock).await);
    until(PATIENCE, || stage.redis.call(&["EXISTS", LOCK]) == "0").await.expect("it is freed");
    replica.pause();
    is_not_had(&stage, &lock).await;
}

async fn is_not_had(stage: &Stage, lock: &Lock) {
    let (took, told) = timed(lock.acquire()).await;
    let Err(LockError::Unavailable(error)) = told else { panic!("{told:?}") };
    assert!(error.to_string().contains("only 0 replicas"), "{error}");
    assert!(took < Duration::from_millis(1_200), "{took:?}");
    let gone = until(PATIENCE, || stage.redis.call(&["EXISTS", LOCK]) == "0").await;
    assert!(gone.is_some_and(|took| took < Duration::from_secs(1)), "{gone:?}");
}

// One who waits at the server holds up nobody else.
#[tokio::test]
async fn nobody_waits_for_somebody_elses_replicas() {
    let stage = Stage::new().await;
    let forebay = patient(stage.redis.url()).await;
    let slow = confirmed(forebay.lock("a"), 900);
    // The connection is there from now on.
    slow.acquire().await.expect_err("there is no replica");
    let waiting = tokio::spawn(async move { slow.acquire().await.is_err() });
    pass(Duration::from_millis(50)).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let (took, guard) = timed(take(&forebay.lock("b"))).await;
        slowest = slowest.max(took);
        guard.release().await.expect("Redis can be asked");
    }
    assert!(!waiting.is_finished(), "nobody waited");
    println!("slowest of 50 locks beside one that waits for replicas: {slowest:?}");
    assert!(slowest < Duration::from_millis(400), "{slowest:?}");
    assert!(waiting.await.expect("it does not panic"));
    until(PATIENCE, || stage.redis.call(&["EXISTS", LOCK]) == "0").await.expect("it is given back");
    assert_eq!(locks(&stage).await, 0);
}

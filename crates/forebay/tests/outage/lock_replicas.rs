//! Locks that replicas must have confirmed.

use std::time::Duration;

use forebay::{
    Token,
    lock::{Lock, LockError},
};
use forebay_rig::Redis;

use crate::{
    limits::patient,
    locks::{is_free, locks, take},
    stage::{PATIENCE, Stage},
    timing::{now, pass, timed, until},
};

const LOCK: &str = "lock:outage:{a}";

/// A replica of the server, which has what that has.
///
/// For about a second after it has begun to follow, a replica may take no notice of being asked for confirmation, and
/// confirms by itself: no sooner is there anything to see of locks.
async fn follow(stage: &Stage) -> Redis {
    let replica = Redis::start();
    stage.call(&["CONFIG", "SET", "repl-diskless-sync-delay", "0"]).await;
    replica.call(&["REPLICAOF", "127.0.0.1", &stage.redis.port().to_string()]);
    let linked = || replica.call(&["INFO", "replication"]).contains("master_link_status:up");
    until(PATIENCE, linked).await.expect("a server can be followed");
    let probe = confirmed(patient(stage.redis.url()).await.lock("probe"), 1_000);
    let began = now();
    while probe.try_acquire().await.is_err() {
        assert!(began.elapsed() < PATIENCE, "the replica confirms nothing");
    }
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

// What gives back the first one must not free the second one.
#[tokio::test]
async fn whoever_asks_again_once_there_is_a_replica_keeps_the_lock() {
    let stage = Stage::new().await;
    let replica = follow(&stage).await;
    let forebay = patient(stage.redis.url()).await;
    let own = confirmed(forebay.lock("a"), 200).token(Token::random());
    replica.pause();
    is_not_had(&stage, &own).await;
    replica.resume();
    let guard = take(&own).await;
    pass(Duration::from_secs(2)).await;
    assert!(!is_free(&forebay.lock("a")).await, "{guard:?} is freed by what came before it");
    assert!(guard.release().await.expect("Redis can be asked"));
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

// What takes a lock back waits where the request waits, and does not come before it.
#[tokio::test]
async fn a_lock_that_is_asked_for_behind_others_who_wait_is_taken_back() {
    let stage = Stage::new().await;
    let forebay = patient(stage.redis.url()).await;
    let slow = |name: &str| confirmed(forebay.lock(name), 900);
    // The connection is there from now on.
    confirmed(forebay.lock("c"), 1).acquire().await.expect_err("there is no replica");
    let waiting = ["c", "d", "e"].map(|name| {
        let lock = slow(name);
        tokio::spawn(async move { lock.acquire().await.is_err() })
    });
    pass(Duration::from_millis(50)).await;
    let left = slow("a");
    let left = tokio::spawn(async move { left.acquire().await.is_err() });
    pass(Duration::from_millis(50)).await;
    assert_eq!(stage.redis.call(&["EXISTS", "fence:outage:{a}"]), "0", "it is asked for behind the others");
    left.abort();
    until(PATIENCE, || stage.redis.call(&["EXISTS", "fence:outage:{a}"]) == "1")
        .await
        .expect("it is granted");
    until(PATIENCE, || stage.redis.call(&["EXISTS", LOCK]) == "0").await.expect("it is taken back");
    for waiting in waiting {
        waiting.await.expect("it does not panic");
    }
}

//! Holders whose way to Redis fails, and waiters who hear nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    clock::Clock,
    lock::LockError,
    testing::{Flow, Proxy},
};

use crate::{
    limits::patient,
    locks::{free_after, is_free, take},
    stage::{PATIENCE, Stage, flow, works},
    timing::{now, pass, timed, until},
};

const LIFE: Duration = Duration::from_secs(1);

// L2, L26: renewing outlives the connection, and nobody else is let in meanwhile.
#[tokio::test]
async fn whoever_loses_its_connection_keeps_its_lock() {
    let stage = Stage::new().await;
    let other = patient(stage.redis.url()).await;
    let guard = take(&stage.forebay.lock("a").time_to_live(LIFE)).await;
    for _ in 0..4 {
        stage.call(&["CLIENT", "KILL", "TYPE", "normal"]).await;
        stage.call(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        pass(LIFE * 2 / 3).await;
        assert!(!guard.is_lost());
    }
    until(PATIENCE, || works(&other)).await.expect("Redis is used");
    assert!(!is_free(&other.lock("a")).await);
    assert!(guard.remaining() > LIFE / 3, "{:?}", guard.remaining());
    assert!(guard.release().await.expect("Redis can be asked"));
    assert!(is_free(&other.lock("a")).await);
}

// L29: a heartbeat that dies of its first error.
#[tokio::test]
async fn whoever_cannot_renew_for_less_than_a_life_keeps_its_lock() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let guard = take(&stage.forebay.lock("a").time_to_live(LIFE)).await;
    for _ in 0..3 {
        flow(&proxy, Flow::Hold);
        pass(LIFE / 2).await;
        assert!(guard.remaining() < LIFE * 2 / 3, "it was renewed: {:?}", guard.remaining());
        proxy.cut();
        flow(&proxy, Flow::Pass);
        pass(LIFE).await;
        assert!(!guard.is_lost());
    }
    assert!(guard.release().await.expect("Redis can be asked"));
}

/// What is left of a lock in Redis when its holder is told that it is lost, in ms.
async fn left_when_told(stage: &Stage, proxy: &Proxy) -> i64 {
    let guard = take(&stage.forebay.lock("a").time_to_live(LIFE)).await;
    pass(Duration::from_millis(100)).await;
    flow(proxy, Flow::Hold);
    let told = Clock::real().timeout(LIFE * 2, guard.lost()).await;
    let left = stage.redis.call(&["PTTL", "lock:outage:{a}"]);
    assert!(told.is_some() && guard.is_lost() && guard.remaining().is_zero());
    left.parse().expect("PTTL is a number")
}

// L7, L26: a half-open connection. The lease is the truth, and ends earlier for its holder than for others.
#[tokio::test]
async fn whoever_is_cut_off_is_told_before_anybody_else_is_let_in() {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (stage, proxy) = Stage::behind_proxy().await;
        seen.push(left_when_told(&stage, &proxy).await);
    }
    println!("what Redis had left of a lock of {LIFE:?} when its holder was told, in ms: {seen:?}");
    // All of 60 ms less what the machine took, which is never more often than twice.
    assert!(seen.iter().any(|&left| left > 30), "{seen:?}");
}

// L7, L9: the work of a holder that is cut off is dropped, and what it frees afterwards is not the next holder's.
#[tokio::test]
async fn the_work_of_whoever_is_cut_off_is_dropped_and_the_next_holder_is_above_it() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let other = patient(stage.redis.url()).await;
    let works_on = Arc::<AtomicBool>::default();
    let (lock, mark) = (stage.forebay.lock("a").time_to_live(LIFE), works_on.clone());
    let (tell, fence) = tokio::sync::oneshot::channel();
    let running = tokio::spawn(async move {
        lock.run(async |held| {
            tell.send(held.fence()).ok();
            loop {
                pass(Duration::from_millis(1)).await;
                mark.store(true, SeqCst);
            }
        })
        .await
    });
    let fence = fence.await.expect("the work begins");
    flow(&proxy, Flow::Hold);
    let next = other.lock("a").time_to_live(LIFE).acquire().await.expect("the life of the lock ends");
    works_on.store(false, SeqCst);
    assert!(next.fence() > fence);
    flow(&proxy, Flow::Pass);
    let ended: Result<(), LockError> = running.await.expect("the work does not panic");
    assert!(matches!(ended, Err(LockError::Lost)), "{ended:?}");
    stage.in_use().await;
    pass(LIFE * 2).await;
    assert!(!works_on.load(SeqCst), "the work goes on");
    assert!(!next.is_lost());
    assert!(next.release().await.expect("Redis can be asked"));
}

/// How long after a release another process has the lock, whose wakes are lost as `deafen` loses them.
async fn taken_after(deafen: impl AsyncFn(&Stage, &Proxy)) -> Duration {
    let (stage, proxy) = Stage::behind_proxy().await;
    let other = patient(stage.redis.url()).await;
    let guard = take(&other.lock("a")).await;
    let lock = stage.forebay.lock("a").wait(Duration::from_secs(20));
    let waiter = tokio::spawn(async move { lock.acquire().await.map(|_| now()) });
    pass(Duration::from_millis(400)).await;
    assert!(!waiter.is_finished());
    deafen(&stage, &proxy).await;
    let released = now();
    assert!(guard.release().await.expect("Redis can be asked"));
    let taken = Clock::real().timeout(PATIENCE, waiter).await.expect("it does not wait for a whole life");
    let taken = taken.expect("the waiter does not panic").expect("the lock is had");
    taken.saturating_duration_since(released)
}

// L5: a wake is a hint, and nobody sleeps for the life of the lock without one.
#[tokio::test]
async fn whoever_waits_gets_the_lock_though_it_hears_nothing() {
    let lost = taken_after(async |_, proxy| proxy.drop_replies(1_000, "lock:outage:{a}")).await;
    let killed = taken_after(async |stage, _| {
        stage.call(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    });
    let killed = killed.await;
    println!("had {lost:?} after a release of which nothing was heard, {killed:?} after one while deaf");
    for took in [lost, killed] {
        assert!(took < Duration::from_millis(1_500), "{took:?}");
    }
}

// L5: nobody is woken at all where the subscription cannot be had.
#[tokio::test]
async fn a_lock_is_handed_on_without_a_subscription() {
    let stage = Stage::new().await;
    stage.call(&["ACL", "SETUSER", "default", "resetchannels"]).await;
    stage.call(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    pass(Duration::from_millis(200)).await;
    let lock = stage.forebay.lock("a");
    let guard = take(&lock).await;
    let waiting = lock.clone();
    let waiter = tokio::spawn(async move { waiting.acquire().await });
    pass(Duration::from_millis(100)).await;
    drop(guard);
    let (took, had) = timed(waiter).await;
    assert!(had.expect("the waiter does not panic").is_ok());
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert!(free_after(&lock).await < Duration::from_secs(2));
}

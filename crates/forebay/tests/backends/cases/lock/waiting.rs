//! Who waits for a lock.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use forebay::lock::{Guard, Lock, LockError};
use tokio::task::JoinHandle;

use super::{LIFE, is_free, lock, take};
use crate::rig::{Rig, SECOND, at_once};

fn wait(lock: &Lock) -> JoinHandle<Result<Guard, LockError>> {
    let lock = lock.clone();
    tokio::spawn(async move { lock.acquire().await })
}

/// When a caller that got nothing is to come back.
fn busy(got: Result<Guard, LockError>) -> Duration {
    match got {
        Err(LockError::Busy { retry_after }) => retry_after,
        other => panic!("it is not busy: {other:?}"),
    }
}

pub(crate) async fn who_waits_gets_the_lock_once_it_is_free(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let waiter = wait(&lock);
    rig.pass(LIFE * 2).await;
    assert!(!waiter.is_finished());
    let fence = guard.fence();
    guard.release().await.unwrap();
    assert!(at_once(&rig, waiter).await.unwrap().fence() > fence);
}

pub(crate) async fn who_waits_is_served_in_the_order_of_coming(rig: impl Rig) {
    let (lock, order) = (lock(&rig).wait(SECOND * 60), Arc::new(Mutex::new(Vec::new())));
    let guard = take(&lock).await;
    let mut waiters = Vec::new();
    for number in 0..20 {
        let (lock, order) = (lock.clone(), order.clone());
        waiters.push(tokio::spawn(async move {
            let guard = lock.acquire().await.unwrap();
            order.lock().unwrap().push(number);
            guard.release().await.unwrap();
        }));
        rig.settle().await;
    }
    guard.release().await.unwrap();
    for waiter in waiters {
        at_once(&rig, waiter).await;
    }
    assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
}

pub(crate) async fn who_waits_in_vain_is_told_when_to_come_back(rig: impl Rig) {
    let lock = lock(&rig).wait(SECOND);
    let _guard = take(&lock).await;
    let (first, second) = (wait(&lock), wait(&lock));
    rig.pass(SECOND / 2).await;
    assert!(!first.is_finished() && !second.is_finished());
    rig.pass(SECOND).await;
    for waiter in [first, second] {
        let retry_after = busy(at_once(&rig, waiter).await);
        assert!(!retry_after.is_zero() && retry_after <= LIFE, "{retry_after:?}");
    }
}

pub(crate) async fn who_waits_outlasts_a_holder_that_vanished(rig: impl Rig) {
    let lock = lock(&rig);
    let _token = take(&lock).await.into_token();
    let waiter = wait(&lock);
    rig.pass(LIFE - SECOND / 2).await;
    assert!(!waiter.is_finished());
    rig.pass(SECOND * 2).await;
    drop(at_once(&rig, waiter).await.unwrap());
}

// L6: a waiter gives up, the lock is freed, and two others come.
pub(crate) async fn a_waiter_that_gives_up_leaves_no_trace(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let waiter = wait(&lock.clone().wait(SECOND));
    rig.pass(SECOND * 2).await;
    busy(at_once(&rig, waiter).await);
    guard.release().await.unwrap();
    let first = take(&lock).await;
    assert!(!is_free(&lock).await);
    drop(first);
}

// L23: the head of the queue goes away.
pub(crate) async fn the_head_of_fifty_waiters_goes_away(rig: impl Rig) {
    let lock = lock(&rig).wait(SECOND * 60);
    let guard = take(&lock).await;
    let mut waiters = Vec::new();
    for _ in 0..50 {
        waiters.push(wait(&lock));
        rig.settle().await;
    }
    let head = waiters.remove(0);
    head.abort();
    assert!(head.await.unwrap_err().is_cancelled());
    guard.release().await.unwrap();
    for waiter in waiters {
        drop(at_once(&rig, waiter).await.unwrap());
    }
}

pub(crate) async fn nobody_waits_for_nothing(rig: impl Rig) {
    let lock = lock(&rig).wait(Duration::ZERO);
    let guard = at_once(&rig, wait(&lock)).await.unwrap();
    busy(at_once(&rig, wait(&lock)).await);
    guard.release().await.unwrap();
    drop(at_once(&rig, wait(&lock)).await.unwrap());
}

pub(crate) async fn a_shutdown_keeps_nobody_waiting(rig: impl Rig) {
    let lock = lock(&rig).wait(SECOND * 60);
    let guard = take(&lock).await;
    let waiters = [wait(&lock), wait(&lock)];
    rig.settle().await;
    let forebay = rig.forebay().clone();
    let shutting_down = tokio::spawn(async move { forebay.shutdown(SECOND).await });
    for waiter in waiters {
        let refused = at_once(&rig, waiter).await;
        assert!(matches!(refused, Err(LockError::Unavailable(_))), "{refused:?}");
    }
    guard.release().await.unwrap();
    assert!(at_once(&rig, shutting_down).await);
}

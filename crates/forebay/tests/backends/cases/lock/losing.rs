//! Who loses a lock, and how it learns of that.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::lock::LockError;

use super::{LIFE, is_free, lock, take};
use crate::rig::{Rig, SECOND, at_once};

// L17: whoever was told that it is not the owner asks no more.
pub(crate) async fn a_holder_learns_that_its_lock_was_taken_away(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let mut lost = Box::pin(guard.lost());
    assert!(lock.release(guard.token()).await.unwrap());
    assert!(futures::poll!(&mut lost).is_pending());
    rig.pass(LIFE / 3 + SECOND / 10).await;
    assert!(futures::poll!(&mut lost).is_ready());
    assert!(guard.is_lost());
    assert_eq!(guard.remaining(), Duration::ZERO);
    assert!(!guard.release().await.unwrap());
}

pub(crate) async fn work_is_dropped_once_its_lock_is_lost(rig: impl Rig) {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let (lock, dropped) = (lock(&rig), Arc::new(AtomicUsize::new(0)));
    let (token, told) = (forebay::Token::random(), dropped.clone());
    let running = lock.clone().token(token);
    let worker = tokio::spawn(async move {
        running
            .run(async move |_| {
                let _dropped = Dropped(told);
                std::future::pending::<()>().await;
            })
            .await
    });
    rig.settle().await;
    assert!(lock.release(token).await.unwrap());
    rig.pass(LIFE / 2).await;
    assert_eq!(dropped.load(SeqCst), 1);
    assert!(matches!(at_once(&rig, worker).await, Err(LockError::Lost)));
}

// L19: nobody is renewed without limit.
pub(crate) async fn a_forgotten_holder_loses_the_lock(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock.clone().max_hold(SECOND * 5)).await;
    rig.pass(SECOND * 4).await;
    assert!(!guard.is_lost());
    rig.pass(SECOND * 2).await;
    assert!(guard.is_lost());
    rig.pass(LIFE).await;
    assert!(is_free(&lock).await);
    assert!(!guard.release().await.unwrap());
}

pub(crate) async fn a_loop_without_end_loses_the_lock(rig: impl Rig) {
    let lock = lock(&rig);
    let looping = lock.clone().max_hold(SECOND);
    let worker = tokio::spawn(async move {
        looping
            .run(async |_| {
                loop {
                    tokio::task::yield_now().await;
                }
            })
            .await
    });
    rig.settle().await;
    rig.pass(SECOND + SECOND / 5).await;
    assert!(matches!(at_once(&rig, worker).await, Err(LockError::Lost)));
    assert!(is_free(&lock).await);
}

// L9: the first holder's lock ends, another has it, and the first lets go.
pub(crate) async fn a_lock_that_is_lost_is_not_freed_for_its_next_holder(rig: impl Rig) {
    let lock = lock(&rig);
    let first = take(&lock).await;
    lock.release(first.token()).await.unwrap();
    let second = take(&lock).await;
    assert!(second.fence() > first.fence());
    rig.pass(LIFE / 2).await;
    assert!(first.is_lost());
    drop(first);
    rig.settle().await;
    assert!(!is_free(&lock).await);
    assert!(second.release().await.unwrap());
}

pub(crate) async fn a_freed_lock_is_lost_to_what_was_handed_out(rig: impl Rig) {
    let guard = take(&lock(&rig)).await;
    let held = guard.held();
    let mut lost = Box::pin(held.lost());
    assert!(futures::poll!(&mut lost).is_pending());
    guard.release().await.unwrap();
    assert!(futures::poll!(&mut lost).is_ready());
    assert!(held.is_lost());
}

pub(crate) async fn a_lock_that_is_taken_away_has_a_larger_fence_next_and_is_lost_at_its_renewal(
    rig: impl Rig,
) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    assert!(lock.force_release().await.unwrap());
    let next = take(&lock).await;
    assert!(next.fence() > guard.fence());
    assert!(!guard.is_lost());
    rig.pass(LIFE / 3 + SECOND / 10).await;
    assert!(guard.is_lost());
    assert!(!guard.release().await.unwrap());
    assert!(next.release().await.unwrap());
}

pub(crate) async fn a_lock_that_is_taken_away_goes_to_who_waits(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let waiting = lock.clone();
    let waiter = tokio::spawn(async move { waiting.acquire().await });
    rig.settle().await;
    assert!(lock.force_release().await.unwrap());
    let next = at_once(&rig, waiter).await.unwrap();
    assert!(next.fence() > guard.fence());
}

pub(crate) async fn what_nobody_holds_is_not_taken_away(rig: impl Rig) {
    let lock = lock(&rig);
    assert!(!lock.force_release().await.unwrap());
    take(&lock).await.release().await.unwrap();
    assert!(!lock.force_release().await.unwrap());
}

//! Callers that are dropped after every number of polls that they can be dropped after.

use super::{LIFE, is_free, lock, take};
use crate::{
    polls::within_polls,
    rig::{Rig, SECOND},
};

/// More than any of these calls is polled.
const MOST: usize = 100;

// L11: cancelled while it acquires.
pub(crate) async fn an_acquire_that_is_dropped_at_any_await_leaves_the_lock_free(rig: impl Rig) {
    let lock = lock(&rig);
    for polls in 0..MOST {
        let got = within_polls(polls, lock.acquire()).await;
        let done = got.is_some();
        drop(got);
        rig.settle().await;
        assert!(is_free(&lock).await, "dropped after {polls} polls");
        rig.settle().await;
        if done {
            assert!(polls > 0);
            return;
        }
    }
    panic!("an acquire of a free lock does not end");
}

pub(crate) async fn a_wait_that_is_dropped_at_any_await_leaves_the_lock_to_others(rig: impl Rig) {
    let lock = lock(&rig).wait(SECOND);
    for polls in 0..MOST {
        let guard = take(&lock).await;
        let waiting = lock.clone();
        let waits =
            tokio::spawn(async move { within_polls(polls, async { waiting.acquire().await.is_ok() }).await });
        rig.settle().await;
        guard.release().await.unwrap();
        let got = waits.await.unwrap();
        rig.settle().await;
        assert!(is_free(&lock).await, "dropped after {polls} polls");
        rig.settle().await;
        if got.is_some() {
            assert!(polls > 1, "nobody waited");
            return;
        }
    }
    panic!("a wait for a lock that is freed does not end");
}

// L11, L12: cancelled while it releases.
pub(crate) async fn a_release_that_is_dropped_at_any_await_frees_the_lock(rig: impl Rig) {
    let lock = lock(&rig);
    for polls in 0..MOST {
        let done = within_polls(polls, take(&lock).await.release()).await;
        rig.settle().await;
        assert!(is_free(&lock).await, "dropped after {polls} polls");
        rig.settle().await;
        if done.is_some() {
            return;
        }
    }
    panic!("a release does not end");
}

pub(crate) async fn work_that_is_dropped_at_any_await_frees_the_lock(rig: impl Rig) {
    let lock = lock(&rig);
    let work = || lock.run(async |_| tokio::task::yield_now().await);
    for polls in 0..MOST {
        let done = within_polls(polls, work()).await;
        rig.settle().await;
        assert!(is_free(&lock).await, "dropped after {polls} polls");
        rig.settle().await;
        if done.is_some() {
            rig.pass(LIFE).await;
            assert!(is_free(&lock).await);
            return;
        }
    }
    panic!("work under a free lock does not end");
}

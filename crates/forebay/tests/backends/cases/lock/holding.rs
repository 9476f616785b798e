//! Who holds a lock, and until when.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{ErrorKind, lock::LockError};

use super::{LIFE, is_free, lock, take};
use crate::rig::{Rig, SECOND};

pub(crate) async fn a_lock_has_one_holder_at_a_time(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    assert!(!is_free(&lock).await);
    assert!(!guard.is_lost());
    assert!(guard.remaining() > LIFE / 2 && guard.remaining() < LIFE);
    assert!(guard.release().await.unwrap());
    assert!(is_free(&lock).await);
}

pub(crate) async fn the_fence_grows_with_every_holding(rig: impl Rig) {
    let lock = lock(&rig);
    let mut last = 0;
    for _ in 0..20 {
        let guard = take(&lock).await;
        assert!(guard.fence() > last, "{} after {last}", guard.fence());
        last = guard.fence();
        guard.release().await.unwrap();
    }
    rig.pass(LIFE * 2).await;
    assert!(take(&lock).await.fence() > last);
}

// L2: renewing never stops by itself.
pub(crate) async fn a_lock_is_held_for_as_long_as_its_guard_is_there(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    for _ in 0..10 {
        rig.pass(LIFE).await;
        assert!(!guard.is_lost());
        assert!(!is_free(&lock).await);
    }
    assert!(guard.release().await.unwrap());
}

pub(crate) async fn a_short_life_is_renewed_beside_a_long_one(rig: impl Rig) {
    let _long = take(&rig.forebay().lock("long").time_to_live(LIFE * 20)).await;
    rig.settle().await;
    let lock = lock(&rig);
    let short = take(&lock).await;
    rig.pass(LIFE * 2).await;
    assert!(!short.is_lost());
    assert!(!is_free(&lock).await);
}

// L22: a guard may be dropped where nothing can be awaited, and where there is no runtime.
pub(crate) async fn a_dropped_guard_frees_the_lock_wherever_it_is_dropped(rig: impl Rig) {
    let lock = lock(&rig);
    drop(take(&lock).await);
    rig.settle().await;
    let guard = take(&lock).await;
    std::thread::spawn(move || drop(guard)).join().unwrap();
    rig.settle().await;
    assert!(is_free(&lock).await);
}

// L13: a lock is its guard's, not its task's or thread's.
pub(crate) async fn a_thousand_tasks_hold_a_lock_one_after_the_other(rig: impl Rig) {
    let (inside, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let lock = lock(&rig).wait(Duration::from_secs(600));
    let tasks: Vec<_> = (0..1000)
        .map(|_| {
            let (lock, inside, done) = (lock.clone(), inside.clone(), done.clone());
            tokio::spawn(async move {
                let guard = lock.acquire().await.unwrap();
                assert_eq!(inside.fetch_add(1, SeqCst), 0);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, SeqCst);
                guard.release().await.unwrap();
                done.fetch_add(1, SeqCst);
            })
        })
        .collect();
    while done.load(SeqCst) < 1000 && !tasks.iter().any(|task| task.is_finished() && done.load(SeqCst) == 0) {
        rig.settle().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
}

pub(crate) async fn every_odd_name_is_a_lock_of_its_own(rig: impl Rig) {
    let long = "n".repeat(10_000);
    let names = ["", " ", "%", "{a}", "a}b{", "*", "größe-日本-😀", "\0\r\n", &long];
    let mut held = Vec::new();
    for name in names {
        held.push(take(&rig.forebay().lock(name).time_to_live(LIFE)).await);
        assert!(!is_free(&rig.forebay().lock(name)).await, "{name:?}");
    }
}

pub(crate) async fn work_is_done_under_a_lock_that_is_free_afterwards(rig: impl Rig) {
    let lock = lock(&rig);
    let other = lock.clone();
    let done = lock
        .run(async move |held| {
            assert!(!is_free(&other).await);
            assert!(held.remaining() > SECOND);
            held.fence()
        })
        .await;
    let fence = done.unwrap();
    let guard = take(&lock).await;
    assert!(guard.fence() > fence);
    let busy = lock.clone().wait(Duration::ZERO).run(async |_| ()).await.unwrap_err();
    assert!(matches!(busy, LockError::Busy { retry_after } if retry_after <= LIFE), "{busy:?}");
}

// L4: the owner ends while it holds.
pub(crate) async fn a_panic_under_a_lock_frees_it(rig: impl Rig) {
    let lock = lock(&rig);
    let panicking = lock.clone();
    let task = tokio::spawn(async move { panicking.run(async |_| panic!("on purpose")).await });
    assert!(task.await.unwrap_err().is_panic());
    rig.settle().await;
    assert!(is_free(&lock).await);
}

pub(crate) async fn what_could_not_work_is_refused_and_holds_nobody_up(rig: impl Rig) {
    let lock = lock(&rig);
    let bad = [
        lock.clone().time_to_live(Duration::ZERO),
        lock.clone().time_to_live(Duration::from_micros(999)),
        lock.clone().time_to_live(Duration::from_millis(99)),
        lock.clone().time_to_live(Duration::MAX),
        lock.clone().wait(Duration::MAX),
        lock.clone().max_hold(Duration::ZERO),
        lock.clone().replicas(0, SECOND),
    ];
    for bad in bad {
        assert!(matches!(bad.acquire().await, Err(LockError::Invalid(_))), "{bad:?}");
        assert!(matches!(bad.run(async |_| ()).await, Err(LockError::Invalid(_))), "{bad:?}");
        assert_eq!(bad.try_acquire().await.unwrap_err().kind(), ErrorKind::Config, "{bad:?}");
    }
    assert!(is_free(&lock).await);
}

pub(crate) async fn shutting_down_frees_what_is_held_and_tells_the_holder(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let mut lost = Box::pin(guard.lost());
    let shutting_down = {
        let forebay = rig.forebay().clone();
        tokio::spawn(async move { forebay.shutdown(SECOND).await })
    };
    rig.settle().await;
    assert!(!guard.is_lost(), "the holder has the budget");
    rig.pass(SECOND + SECOND / 2).await;
    assert!(!shutting_down.await.unwrap());
    assert!(futures::poll!(&mut lost).is_ready());
    let refused = lock.try_acquire().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
}

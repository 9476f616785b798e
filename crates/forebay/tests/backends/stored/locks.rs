//! What locks keep in a server.

use std::time::Duration;

use forebay::{ErrorKind, lock::LockError};

use crate::{
    clocked::{ClockedRig, Clocks},
    rig::{Rig, SECOND},
    server::Servers,
};

const LIFE: Duration = Duration::from_secs(30);

const DAY: i64 = 24 * 3600 * 1000;

pub(crate) async fn a_lock_is_its_token_and_fence_and_ends(rig: ClockedRig<impl Clocks>) {
    let guard = rig.forebay().lock("plan:42").time_to_live(LIFE).acquire().await.unwrap();
    let (lock, fence) = (rig.lock_key("lock"), rig.lock_key("fence"));
    assert_eq!(rig.call(&["GET", &lock]), format!("{} {}", guard.token(), guard.fence()));
    assert_eq!(rig.call(&["GET", &fence]), guard.fence().to_string());
    assert!((29_000..=30_000).contains(&rig.life(&lock)), "{}", rig.life(&lock));
    assert!((29 * DAY..=30 * DAY).contains(&rig.life(&fence)), "{}", rig.life(&fence));
    guard.release().await.unwrap();
    assert_eq!(rig.call(&["EXISTS", &lock]), "0");
    assert_eq!(rig.keys(), 1);
}

pub(crate) async fn a_fence_is_the_servers_time_in_microseconds_or_above(rig: ClockedRig<impl Clocks>) {
    let lock = rig.forebay().lock("plan:42").time_to_live(LIFE);
    let time = rig.call(&["TIME"]);
    let seconds: u64 = time.lines().next().unwrap().parse().unwrap();
    let guard = lock.acquire().await.unwrap();
    assert!((0..=2).contains(&(guard.fence() / 1_000_000 - seconds)), "{} at {time}", guard.fence());
    // Somebody else's clock was far ahead.
    let ahead = (guard.fence() + 1_000_000_000_000).to_string();
    guard.release().await.unwrap();
    rig.call(&["SET", &rig.lock_key("fence"), &ahead, "PX", "60000"]);
    let guard = lock.acquire().await.unwrap();
    assert_eq!(guard.fence(), ahead.parse::<u64>().unwrap() + 1);
}

pub(crate) async fn only_a_lock_that_is_waited_for_is_announced(rig: ClockedRig<impl Clocks>) {
    let lock = rig.forebay().lock("plan:42").time_to_live(LIFE);
    let published = || rig.0.servers.nodes().iter().map(|node| node.calls("publish")).sum::<u64>();
    // Heartbeats are published too.
    let told = |from: u64| published() - from;
    let guard = lock.acquire().await.unwrap();
    let waiting = lock.clone();
    let waiter = tokio::spawn(async move { waiting.acquire().await });
    rig.settle().await;
    assert!(rig.call(&["GET", &rig.lock_key("lock")]).ends_with(" w"));
    let before = published();
    guard.release().await.unwrap();
    let guard = waiter.await.unwrap().unwrap();
    assert!(told(before) >= 1);
    assert!(!rig.call(&["GET", &rig.lock_key("lock")]).ends_with(" w"));
    drop(guard);
    rig.settle().await;
}

/// What somebody else has put under the lock's name is nobody's lock, and keeps everybody out.
pub(crate) async fn what_is_no_lock_keeps_everybody_out_and_stays(rig: ClockedRig<impl Clocks>) {
    let lock = rig.forebay().lock("plan:42").time_to_live(LIFE).wait(SECOND);
    let key = rig.lock_key("lock");
    rig.call(&["RPUSH", &key, "a"]);
    rig.call(&["PEXPIRE", &key, "60000"]);
    assert!(lock.try_acquire().await.unwrap().is_none());
    assert!(!lock.release(forebay::Token::random()).await.unwrap());
    assert!(!lock.renew(forebay::Token::random()).await.unwrap());
    assert_eq!(lock.force_release().await.unwrap_err().kind(), ErrorKind::Foreign);
    assert_eq!(rig.call(&["LRANGE", &key, "0", "-1"]), "a");
    rig.call(&["DEL", &key]);
    assert!(lock.try_acquire().await.unwrap().is_some());
}

pub(crate) async fn what_stays_for_ever_under_a_locks_key_is_told_by_its_name(rig: ClockedRig<impl Clocks>) {
    let (lock, key) =
        (rig.forebay().lock("plan:42").time_to_live(LIFE).wait(Duration::ZERO), rig.lock_key("lock"));
    for command in [["SET", &key, "1"], ["RPUSH", &key, "a"]] {
        rig.call(&command);
        let LockError::Unavailable(waited) = lock.acquire().await.unwrap_err() else { panic!("{command:?}") };
        for refused in [waited, lock.try_acquire().await.unwrap_err()] {
            assert_eq!(refused.kind(), ErrorKind::Foreign);
            assert!(refused.to_string().contains(&key), "{refused}");
        }
        assert_eq!(lock.force_release().await.unwrap_err().kind(), ErrorKind::Foreign);
        assert_eq!(rig.call(&["DEL", &key]), "1", "{command:?} is gone");
    }
    // One that holds the lock mends it.
    let guard = lock.acquire().await.unwrap();
    rig.call(&["PERSIST", &key]);
    assert_eq!(lock.try_acquire().await.unwrap_err().kind(), ErrorKind::Foreign);
    assert_eq!(lock.force_release().await.unwrap_err().kind(), ErrorKind::Foreign);
    assert!(lock.renew(guard.token()).await.unwrap());
    assert!(lock.try_acquire().await.unwrap().is_none());
}

// A fence that was spoilt counts as none.
pub(crate) async fn a_spoilt_fence_is_written_anew(rig: ClockedRig<impl Clocks>) {
    let lock = rig.forebay().lock("plan:42").time_to_live(LIFE);
    let first = lock.acquire().await.unwrap();
    let fence = first.fence();
    first.release().await.unwrap();
    rig.pass(SECOND).await;
    for spoilt in ["", "text", "-1", "nan", "1e300", "9007199254740992", "99999999999999999999"] {
        rig.call(&["SET", &rig.lock_key("fence"), spoilt, "PX", "60000"]);
        let guard = lock.acquire().await.unwrap();
        assert!(guard.fence() > fence && guard.fence() < 1 << 53, "{} after {spoilt:?}", guard.fence());
        guard.release().await.unwrap();
    }
    rig.call(&["DEL", &rig.lock_key("fence")]);
    rig.call(&["RPUSH", &rig.lock_key("fence"), "a"]);
    assert!(lock.acquire().await.unwrap().fence() > fence);
}

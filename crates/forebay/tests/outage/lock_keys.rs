//! Keys of locks that were lost, or that somebody else has written.

use std::time::Duration;

use forebay::{
    ErrorKind, Token,
    clock::Clock,
    lock::{Lock, LockError},
};

use crate::{
    limits::patient,
    locks::{is_free, take},
    stage::{PATIENCE, Stage},
    timing::timed,
};

const LIFE: Duration = Duration::from_millis(900);
const LOCK: &str = "lock:outage:{a}";
const FENCE: &str = "fence:outage:{a}";

async fn lock(stage: &Stage) -> Lock {
    patient(stage.redis.url()).await.lock("a").time_to_live(LIFE)
}

#[tokio::test]
async fn a_holder_learns_that_the_server_was_flushed_and_the_next_is_above_it() {
    let stage = Stage::new().await;
    let lock = lock(&stage).await;
    for _ in 0..3 {
        let guard = take(&lock).await;
        stage.call(&["FLUSHALL"]).await;
        let next = take(&lock).await;
        assert!(next.fence() > guard.fence());
        let (took, told) = timed(Clock::real().timeout(PATIENCE, guard.lost())).await;
        assert!(told.is_some() && took < LIFE / 2, "{took:?}");
        assert!(!guard.release().await.expect("Redis can be asked"));
        assert!(!next.is_lost() && next.release().await.expect("Redis can be asked"));
    }
}

#[tokio::test]
async fn fences_grow_whatever_becomes_of_their_key() {
    let stage = Stage::new().await;
    let lock = lock(&stage).await;
    let mut last = 0;
    let spoilt =
        ["", "text", "-5", "-inf", "inf", "nan", "9007199254740992", "1e300", "12 34", "0x10", "1.5"];
    let spoilt = spoilt.map(|text| vec!["SET", FENCE, text]);
    let others = [vec!["DEL", FENCE], vec!["LPUSH", FENCE, "7"], vec!["HSET", FENCE, "a", "7"]];
    for command in spoilt.into_iter().chain(others) {
        stage.call(&["DEL", FENCE]).await;
        stage.call(&command).await;
        let guard = take(&lock).await;
        assert!(guard.fence() > last, "{command:?}: {} after {last}", guard.fence());
        last = guard.fence();
        assert!(guard.release().await.expect("Redis can be asked"));
    }
    assert_eq!(stage.redis.keys_without_expiry(), Vec::<String>::new());
}

#[tokio::test]
async fn a_fence_that_is_ahead_of_the_clock_goes_on_from_there() {
    let stage = Stage::new().await;
    let (lock, ahead) = (lock(&stage).await, 9_000_000_000_000_000_u64);
    stage.call(&["SET", FENCE, &ahead.to_string()]).await;
    for more in 1..4 {
        let guard = take(&lock).await;
        assert_eq!(guard.fence(), ahead + more);
        guard.release().await.expect("Redis can be asked");
    }
}

#[tokio::test]
async fn what_somebody_else_has_written_is_a_lock_that_somebody_holds() {
    let stage = Stage::new().await;
    let lock = lock(&stage).await.wait(Duration::from_millis(300));
    for command in [
        ["LPUSH", LOCK, "7"].as_slice(),
        &["HSET", LOCK, "a", "7"],
        &["SET", LOCK, ""],
        &["SET", LOCK, "text"],
        &["SET", LOCK, &format!("{} 7", Token::random())],
    ] {
        stage.call(&["DEL", LOCK]).await;
        stage.call(command).await;
        let told = lock.acquire().await;
        let Err(LockError::Unavailable(error)) = told else { panic!("{command:?}: {told:?}") };
        assert!(error.kind() == ErrorKind::Foreign && error.to_string().contains(LOCK), "{error}");
        let stranger = Token::random();
        assert!(!lock.renew(stranger).await.expect("Redis can be asked"), "{command:?}");
        assert!(!lock.release(stranger).await.expect("Redis can be asked"), "{command:?}");
        assert_eq!(stage.call(&["EXISTS", LOCK]).await, "1", "{command:?}");
        assert_eq!(stage.call(&["PTTL", LOCK]).await, "-1", "{command:?}");
        stage.call(&["PEXPIRE", LOCK, "60000"]).await;
        let told = lock.acquire().await;
        let Err(LockError::Busy { retry_after }) = told else { panic!("{command:?}: {told:?}") };
        assert!(retry_after > LIFE && retry_after <= Duration::from_mins(1), "{retry_after:?}");
    }
    stage.call(&["DEL", LOCK]).await;
    assert!(is_free(&lock).await);
}

#[tokio::test]
async fn a_holder_learns_that_its_key_was_overwritten() {
    let stage = Stage::new().await;
    let lock = lock(&stage).await;
    let guard = take(&lock).await;
    stage.call(&["DEL", LOCK]).await;
    stage.call(&["LPUSH", LOCK, "7"]).await;
    let (took, told) = timed(Clock::real().timeout(PATIENCE, guard.lost())).await;
    assert!(told.is_some() && took < LIFE / 2, "{took:?}");
    assert!(!guard.release().await.expect("Redis can be asked"));
    assert_eq!(stage.call(&["LLEN", LOCK]).await, "1");
}

//! Locks that are asked for again under a token of the caller's, after an answer that was lost.

use std::time::Duration;

use forebay::{Token, lock::LockError, testing::Flow};

use crate::{
    limits::patient,
    locks::{is_free, take},
    stage::Stage,
    timing::pass,
};

/// Longer than anything is taken back after an answer.
const LATER: Duration = Duration::from_secs(2);

// L28: nothing that belongs to the lost request frees what was granted to the next one.
#[tokio::test]
async fn a_lock_that_is_asked_for_again_stays_held() {
    let stage = Stage::new().await;
    let lock = stage.forebay.lock("a").wait(Duration::ZERO);
    let own = lock.clone().token(Token::random());
    stage.redis.pause();
    assert!(matches!(own.acquire().await, Err(LockError::Unavailable(_))));
    stage.redis.resume();
    stage.in_use().await;

    let guard = own.acquire().await.expect("nobody else has it");
    pass(LATER).await;

    assert!(lock.try_acquire().await.expect("Redis answers").is_none());
    assert!(guard.release().await.expect("Redis answers"));
}

// L28: whether or not the lost request has been done.
#[tokio::test]
async fn whoever_asks_again_after_a_lost_answer_keeps_the_lock() {
    for answers_are_lost in [true, false] {
        let (stage, proxy) = Stage::behind_proxy().await;
        let other = patient(stage.redis.url()).await;
        drop(take(&stage.forebay.lock("known")).await);
        let token = Token::random();
        let lock = stage.forebay.lock("a").token(token);
        let hold = |flow| if answers_are_lost { proxy.replies(flow) } else { proxy.requests(flow) };
        hold(Flow::Hold);
        let told = lock.acquire().await;
        assert!(matches!(told, Err(LockError::Unavailable(_))), "{told:?}");
        hold(Flow::Pass);
        let guard = lock.acquire().await.expect("it is nobody else's");
        pass(LATER).await;
        assert!(!is_free(&other.lock("a")).await, "{guard:?} is freed by what came before it");
        assert!(guard.release().await.expect("Redis can be asked"));
    }
}

// Another process may be asked the second time.
#[tokio::test]
async fn whoever_asks_again_elsewhere_keeps_the_lock() {
    let (stage, proxy) = Stage::behind_proxy().await;
    let other = patient(stage.redis.url()).await;
    drop(take(&stage.forebay.lock("known")).await);
    let token = Token::random();
    proxy.replies(Flow::Hold);
    let told = stage.forebay.lock("a").token(token).acquire().await;
    assert!(matches!(told, Err(LockError::Unavailable(_))), "{told:?}");
    let guard = other.lock("a").token(token).acquire().await.expect("it is nobody else's");
    proxy.replies(Flow::Pass);
    pass(LATER).await;
    assert!(!is_free(&other.lock("a")).await, "{guard:?} is freed by what came before it");
    assert!(guard.release().await.expect("Redis can be asked"));
}

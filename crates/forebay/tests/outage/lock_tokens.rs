//! Locks that are asked for again under a token of the caller's, after an answer that was lost.

use std::time::Duration;

use forebay::{Token, lock::LockError};

use crate::{stage::Stage, timing::pass};

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

//! Locks that are held by whoever has their token.

use std::time::Duration;

use forebay::{ErrorKind, Token};

use super::{LIFE, is_free, lock, take};
use crate::rig::{Rig, SECOND, at_once};

// L28: the same token twice has the same fence.
pub(crate) async fn whoever_asks_again_under_its_token_has_the_same_fence(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let first = take(&own).await;
    let again = take(&own).await;
    assert_eq!(first.fence(), again.fence());
    assert!(!is_free(&lock).await);
    again.release().await.unwrap();
    let next = take(&own).await;
    assert!(next.fence() > first.fence());
}

pub(crate) async fn whoever_holds_the_lock_already_stands_behind_nobody(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let first = take(&own).await;
    let waiting = tokio::spawn(async move { lock.acquire().await });
    rig.settle().await;
    let again = at_once(&rig, tokio::spawn(async move { own.acquire().await })).await.unwrap();
    assert_eq!(again.fence(), first.fence());
    assert!(!waiting.is_finished());
    waiting.abort();
}

pub(crate) async fn whoever_asks_for_less_keeps_what_it_has(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let token = take(&own.clone().time_to_live(LIFE * 3)).await.into_token();
    let again = take(&own).await.into_token();
    assert_eq!(token, again);
    assert!(own.renew(token).await.unwrap());
    rig.pass(LIFE * 2).await;
    assert!(!is_free(&lock).await);
    rig.pass(LIFE * 2).await;
    assert!(is_free(&lock).await);
}

// L9: whoever does not hold a lock frees nothing.
pub(crate) async fn a_stranger_frees_and_renews_nothing(rig: impl Rig) {
    let lock = lock(&rig);
    let guard = take(&lock).await;
    let stranger = Token::random();
    assert!(!lock.release(stranger).await.unwrap());
    assert!(!lock.renew(stranger).await.unwrap());
    assert!(!is_free(&lock).await);
    assert!(guard.release().await.unwrap());
    assert!(!lock.release(stranger).await.unwrap());
}

pub(crate) async fn a_token_holds_the_lock_until_it_is_freed(rig: impl Rig) {
    let lock = lock(&rig);
    let token = take(&lock).await.into_token();
    rig.pass(LIFE / 2).await;
    assert!(!is_free(&lock).await);
    assert!(lock.release(token).await.unwrap());
    assert!(!lock.release(token).await.unwrap());
    assert!(is_free(&lock).await);
}

pub(crate) async fn a_token_is_renewed_by_hand(rig: impl Rig) {
    let lock = lock(&rig);
    let token = take(&lock).await.into_token();
    for _ in 0..3 {
        rig.pass(LIFE / 2).await;
        assert!(lock.renew(token).await.unwrap());
    }
    assert!(!is_free(&lock).await);
    rig.pass(LIFE + SECOND / 10).await;
    assert!(is_free(&lock).await);
}

// L14, L29: a renewal after the end.
pub(crate) async fn a_renewal_revives_nothing(rig: impl Rig) {
    let lock = lock(&rig);
    let token = take(&lock).await.into_token();
    rig.pass(LIFE + SECOND / 10).await;
    assert!(!lock.renew(token).await.unwrap());
    let next = take(&lock).await;
    assert!(!lock.renew(token).await.unwrap());
    assert!(next.release().await.unwrap());
    assert!(!lock.renew(token).await.unwrap());
    assert!(is_free(&lock).await);
}

// L10: a life below what the store can keep.
pub(crate) async fn a_refused_renewal_drops_nothing(rig: impl Rig) {
    let lock = lock(&rig);
    let token = take(&lock).await.into_token();
    for life in [Duration::ZERO, Duration::from_micros(1), Duration::from_millis(99), Duration::MAX] {
        let refused = lock.clone().time_to_live(life).renew(token).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Config);
        assert!(!is_free(&lock).await);
    }
    assert!(lock.renew(token).await.unwrap());
}

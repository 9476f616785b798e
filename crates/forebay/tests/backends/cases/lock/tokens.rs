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

// A caller that got no answer in time asks again, in the process that has given the first answer to nobody.
pub(crate) async fn the_last_guard_under_a_token_frees_the_lock(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let (first, again) = (take(&own).await, take(&own).await);
    drop(again);
    rig.settle().await;
    assert!(!is_free(&lock).await);
    rig.pass(LIFE * 2).await;
    assert!(!first.is_lost());
    assert!(!is_free(&lock).await);
    drop(first);
    rig.settle().await;
    assert!(is_free(&lock).await);
}

pub(crate) async fn whoever_frees_a_lock_tells_every_guard_under_its_token(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let (first, again) = (take(&own).await, take(&own).await);
    let mut lost = Box::pin(first.lost());
    assert!(futures::poll!(&mut lost).is_pending());
    assert!(again.release().await.unwrap());
    assert!(futures::poll!(&mut lost).is_ready());
    assert!(!first.release().await.unwrap());
    assert!(is_free(&lock).await);
}

pub(crate) async fn a_guard_of_an_earlier_holding_frees_no_later_one(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let (dropped, released) = (take(&own).await, take(&own).await);
    assert!(lock.release(dropped.token()).await.unwrap());
    let next = take(&own).await;
    assert!(next.fence() > dropped.fence());
    assert!(dropped.is_lost() && released.is_lost());
    drop(dropped);
    assert!(!released.release().await.unwrap());
    rig.settle().await;
    assert!(!is_free(&lock).await);
    assert!(next.release().await.unwrap());
}

pub(crate) async fn a_token_that_was_handed_out_outlives_other_guards(rig: impl Rig) {
    let lock = lock(&rig);
    let own = lock.clone().token(Token::random());
    let (first, again) = (take(&own).await, take(&own).await);
    let token = again.into_token();
    assert!(!first.is_lost());
    drop(first);
    rig.settle().await;
    assert!(!is_free(&lock).await);
    assert!(lock.release(token).await.unwrap());
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

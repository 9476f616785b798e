//! What is taken before its cost is known.

use forebay::limiter::{Decision, Limiter, Reservation, Reserved};

use super::{MINUTE, denied, each_mode, forget_refusals, free, left, take, user};
use crate::rig::{Rig, SECOND};

/// Takes `cost`, which fits.
async fn reserve(limiter: &Limiter, cost: u64) -> Reservation {
    match limiter.reserve(&user(), "free", cost).await {
        Reserved::Held(reservation) => reservation,
        Reserved::Refused(decision) => panic!("{cost} do not fit: {decision:?}"),
    }
}

pub(crate) async fn what_was_reserved_too_much_is_given_back(rig: impl Rig) {
    let tiers = free(["10/minute", "20/hour"]);
    for (_, limiter) in each_mode(&rig, tiers.clone()) {
        let reservation = reserve(&limiter, 8).await;
        assert_eq!((reservation.quota().remaining(), left(&limiter, &user()).await), (2, 2));
        take(&limiter, &user(), 1).await;
        denied(&limiter.check_cost(&user(), "free", 2).await);
        reservation.settle(3).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 6);
        take(&limiter, &user(), 6).await;
        forget_refusals(&limiter, tiers.clone());
        denied(&limiter.check(&user(), "free").await);
    }
}

pub(crate) async fn what_was_used_beyond_is_taken_as_far_as_it_fits(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        reserve(&limiter, 2).await.settle(5).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 5);
        reserve(&limiter, 1).await.settle(u64::MAX).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 0);
        rig.pass(MINUTE * 2).await;
        assert_eq!(left(&limiter, &user()).await, 10);
    }
}

pub(crate) async fn a_reservation_that_is_not_settled_counts_as_reserved(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        drop(reserve(&limiter, 4).await);
        reserve(&limiter, 3).await.settle(3).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 3);
        rig.pass(MINUTE * 2).await;
        assert_eq!(left(&limiter, &user()).await, 10);
    }
}

pub(crate) async fn a_reservation_of_nothing_is_settled_up(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        reserve(&limiter, 0).await.settle(4).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 6);
    }
}

pub(crate) async fn a_reservation_that_is_refused_takes_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        take(&limiter, &user(), 5).await;
        let refused = limiter.reserve(&user(), "free", 6).await;
        assert!(matches!(refused, Reserved::Refused(Decision::Denied { .. })), "{refused:?}");
        let refused = limiter.reserve(&user(), "free", 11).await;
        assert!(matches!(refused, Reserved::Refused(Decision::NeverFits { limit: 10 })), "{refused:?}");
        assert_eq!(left(&limiter, &user()).await, 5);
    }
}

pub(crate) async fn after_a_reset_a_settlement_gives_nothing_back(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        let reservation = reserve(&limiter, 8).await;
        rig.pass(SECOND).await;
        limiter.reset(&user()).await.unwrap();
        take(&limiter, &user(), 5).await;
        reservation.settle(0).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 5);
    }
}

pub(crate) async fn after_its_windows_a_settlement_gives_nothing_back(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        let reservation = reserve(&limiter, 8).await;
        rig.pass(MINUTE * 2).await;
        take(&limiter, &user(), 5).await;
        reservation.settle(0).await.unwrap();
        assert_eq!(left(&limiter, &user()).await, 5);
    }
}

// R41: flask-limiter never blocks where only failures are to count.
pub(crate) async fn only_what_fails_counts_if_the_rest_is_settled_to_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["3/minute"])) {
        for succeeds in [true, false, true, true, false, true, false] {
            let reservation = reserve(&limiter, 1).await;
            reservation.settle(u64::from(!succeeds)).await.unwrap();
        }
        denied(&limiter.check(&user(), "free").await);
    }
}

//! Tiers that are others from now on.

use forebay::{
    ErrorKind,
    limiter::{Mode, Tiers},
};

use super::{MINUTE, allowed, denied, each_mode, free, left, quota, take, user};
use crate::rig::{Rig, SECOND};

/// Two tiers that have windows of the same length.
fn two() -> Tiers {
    free(["10/minute", "100/hour"]).tier("pro", ["60/minute", "2000/hour"]).unwrap()
}

pub(crate) async fn an_unknown_tier_is_the_lowest(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, two()) {
        for unknown in ["", "Pro", "platinum", "x".repeat(1000).as_str()] {
            let decision = limiter.check(&user(), unknown).await;
            assert_eq!((quota(&decision).tier(), quota(&decision).limit()), ("free", 10));
        }
        assert_eq!(left(&limiter, &user()).await, 6);
    }
}

pub(crate) async fn another_tier_keeps_what_was_taken(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, two()) {
        take(&limiter, &user(), 8).await;
        assert_eq!(allowed(&limiter.check(&user(), "pro").await), 51);
        assert_eq!(left(&limiter, &user()).await, 1);
        take(&limiter, &user(), 1).await;
        denied(&limiter.check(&user(), "free").await);
        assert_eq!(allowed(&limiter.check(&user(), "pro").await), 49);
    }
}

pub(crate) async fn a_limit_lowered_below_what_is_taken_denies(rig: impl Rig) {
    for (mode, limiter) in each_mode(&rig, free(["10/minute"])) {
        take(&limiter, &user(), 8).await;
        limiter.replace_tiers(free(["5/minute"])).unwrap();
        let refusal = limiter.check(&user(), "free").await;
        assert_eq!((quota(&refusal).limit(), quota(&refusal).remaining()), (5, 0));
        rig.pass(denied(&refusal)).await;
        take(&limiter, &user(), 1).await;
        // Of what was taken at once all comes back at once, except where it is paid off.
        assert_eq!(left(&limiter, &user()).await, if mode == Mode::Gcra { 0 } else { left_in(mode) });
    }
}

/// What is left of five a minute when the first call is admitted after eight at once.
fn left_in(mode: Mode) -> u64 {
    if mode == Mode::Sliding { 0 } else { 4 }
}

// R39: envoy goes on refusing out of its memory although the limit was raised.
pub(crate) async fn a_limit_that_is_raised_admits_the_next_call(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute"])) {
        take(&limiter, &user(), 10).await;
        for _ in 0..3 {
            denied(&limiter.check(&user(), "free").await);
        }
        limiter.replace_tiers(free(["12/minute"])).unwrap();
        take(&limiter, &user(), 2).await;
        denied(&limiter.check(&user(), "free").await);
    }
}

pub(crate) async fn tiers_that_do_not_fit_leave_the_old_ones(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["2/minute"])) {
        let without_the_lowest = Tiers::new().tier("pro", ["60/minute"]).unwrap();
        assert_eq!(limiter.replace_tiers(without_the_lowest).unwrap_err().kind(), ErrorKind::Config);
        take(&limiter, &user(), 2).await;
        denied(&limiter.check(&user(), "free").await);
    }
}

pub(crate) async fn windows_that_only_one_tier_has_still_count_for_it(rig: impl Rig) {
    let tiers = free(["10/minute"]).tier("fast", ["5/s"]).unwrap();
    for (_, limiter) in each_mode(&rig, tiers) {
        take(&limiter, &user(), 10).await;
        for _ in 0..10 {
            rig.pass(SECOND * 2).await;
            assert!(limiter.check(&user(), "fast").await.is_allowed());
        }
        // Twenty seconds later the minute is not over.
        assert!(left(&limiter, &user()).await < 4);
        rig.pass(MINUTE * 2).await;
        assert_eq!(left(&limiter, &user()).await, 10);
    }
}

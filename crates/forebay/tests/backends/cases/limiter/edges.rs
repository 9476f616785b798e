//! The smallest and the largest numbers, and those that are refused.

use std::time::Duration;

use forebay::{
    ErrorKind,
    limiter::{Decision, Mode, Tiers, Window},
};

use super::{
    HOUR, MODES, MS, allowed, denied, each_mode, forget_refusals, free, left, limiter, quota, take, user,
};
use crate::rig::{Rig, SECOND};

pub(crate) async fn a_cost_of_nothing_takes_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["2/minute"])) {
        for _ in 0..5 {
            assert_eq!(allowed(&limiter.check_cost(&user(), "free", 0).await), 2);
        }
        take(&limiter, &user(), 2).await;
        assert_eq!(allowed(&limiter.check_cost(&user(), "free", 0).await), 0);
        forget_refusals(&limiter, free(["1/minute"]));
        denied(&limiter.check_cost(&user(), "free", 0).await);
    }
}

// R5, R6: limits and redis admit it, or answer what contradicts itself.
pub(crate) async fn a_cost_above_the_limit_never_fits_and_takes_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["100/hour", "10/minute"])) {
        for cost in [11, 100, u64::MAX] {
            let decision = limiter.check_cost(&user(), "free", cost).await;
            assert!(matches!(decision, Decision::NeverFits { limit: 10 }), "{decision:?}");
        }
        assert_eq!(allowed(&limiter.check(&user(), "free").await), 9);
    }
}

// R1, R4: a division by zero, or a number that is none.
pub(crate) async fn a_limit_of_zero_denies_every_cost_for_its_window(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["10/minute", "0/hour"])) {
        for cost in (0..99).chain([u64::MAX]) {
            let refusal = limiter.check_cost(&user(), "free", cost).await;
            assert_eq!((denied(&refusal), quota(&refusal).limit()), (HOUR, 0));
        }
        assert_eq!(denied(&limiter.peek(&user(), "free").await), HOUR);
    }
}

// R24: upstash's never allows one.
pub(crate) async fn a_limit_of_one_admits_one(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["1/s"])) {
        for _ in 0..3 {
            assert_eq!(allowed(&limiter.check(&user(), "free").await), 0);
            let retry_after = denied(&limiter.check(&user(), "free").await);
            assert!(retry_after >= SECOND, "{retry_after:?}");
            rig.pass(retry_after).await;
        }
    }
}

// R2: redis-cell never limits, and what remains is more than the limit.
pub(crate) async fn the_largest_limit_is_counted_exactly(rig: impl Rig) {
    const MOST: u64 = 1 << 40;
    for mode in [Mode::Strict, Mode::Sliding, Mode::Gcra] {
        let limiter = limiter(&rig, mode, free(["1099511627776/s"]));
        assert_eq!(allowed(&limiter.check_cost(&user(), "free", MOST - 1).await), 1);
        assert_eq!(allowed(&limiter.check(&user(), "free").await), 0);
        denied(&limiter.check(&user(), "free").await);
        let decision = limiter.check_cost(&user(), "free", MOST + 1).await;
        assert!(matches!(decision, Decision::NeverFits { limit: MOST }), "{decision:?}");
        rig.pass(SECOND * 2).await;
        assert_eq!(allowed(&limiter.check_cost(&user(), "free", MOST).await), 0);
    }
}

// R10: gubernator panics where there is more than one call a millisecond. R42: a log of so many would stall the store.
pub(crate) async fn a_thousand_in_a_millisecond_are_a_thousand(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["1000/1ms"])) {
        for _ in 0..3 {
            assert_eq!(allowed(&limiter.check_cost(&user(), "free", 999).await), 1);
            take(&limiter, &user(), 1).await;
            denied(&limiter.check(&user(), "free").await);
            rig.pass(MS * 2).await;
        }
    }
}

pub(crate) async fn an_unlimited_tier_is_never_refused(rig: impl Rig) {
    let tiers = free(["1/minute"]).unlimited("internal").unwrap();
    for (_, limiter) in each_mode(&rig, tiers) {
        for cost in [0, 1, u64::MAX] {
            let decision = limiter.check_cost(&user(), "internal", cost).await;
            assert_eq!(allowed(&decision), u64::MAX);
            assert!(quota(&decision).is_unlimited() && quota(&decision).windows().next().is_none());
        }
        assert!(limiter.peek(&user(), "internal").await.is_allowed());
        assert_eq!(left(&limiter, &user()).await, 1);
    }
}

// R42: what a log would cost is refused. R16: a window is told by its unit, so that it cannot be taken for its reverse.
pub(crate) async fn what_cannot_be_counted_is_refused_when_built(rig: impl Rig) {
    for length in [Duration::ZERO, Duration::from_micros(999), Duration::from_micros(1500)] {
        assert_eq!(Window::new(1, length).unwrap_err().kind(), ErrorKind::Config);
    }
    let build = |mode, tiers| rig.forebay().limiter("case", tiers).mode(mode).build().map(|_| ());
    for (mode, windows) in
        [(Mode::Log, "10001/day"), (Mode::Sliding, "1099511627776/day"), (Mode::Gcra, "1099511627776/day")]
    {
        let refusal = build(mode, free([windows])).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("`strict`"), "{refusal}");
    }
    for mode in MODES {
        let refusal = build(mode, Tiers::new().tier("pro", ["1/s"]).unwrap()).unwrap_err();
        assert!(refusal.to_string().contains("lowest"), "{refusal}");
    }
    let nobody = rig.forebay().limiter("case", free(["1/s"])).expected_processes(0).build().unwrap_err();
    assert!(nobody.to_string().contains("expected_processes"), "{nobody}");
}

pub(crate) async fn a_policy_is_built_once(rig: impl Rig) {
    let build = || rig.forebay().limiter("case", free(["1/s"])).build();
    let _first = build().unwrap();
    let refusal = build().unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains("clone"), "{refusal}");
}

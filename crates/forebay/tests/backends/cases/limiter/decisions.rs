//! What callers are told, and that it is true.

use std::time::Duration;

use forebay::limiter::{Decision, Limiter, Mode};
use futures::future::join_all;

use super::{HOUR, MINUTE, MS, allowed, denied, each_mode, forget_refusals, free, left, quota, take, user};
use crate::rig::{Rig, SECOND};

pub(crate) async fn as_many_as_the_limit_are_admitted_and_told_what_is_left(rig: impl Rig) {
    for (mode, limiter) in each_mode(&rig, free(["3/minute"])) {
        for remaining in [2, 1, 0] {
            assert_eq!(allowed(&limiter.check(&user(), "free").await), remaining);
        }
        let refusal = limiter.check(&user(), "free").await;
        let (quota, retry_after) = (quota(&refusal), denied(&refusal));
        assert_eq!((quota.limit(), quota.remaining(), quota.window()), (3, 0, MINUTE));
        assert_eq!((quota.policy(), quota.tier()), (limiter.policy(), "free"));
        let told = match mode {
            Mode::Strict => [MINUTE * 11 / 10; 2],
            Mode::Sliding => [MINUTE + MINUTE / 3, MINUTE * 2],
            Mode::Gcra => [MINUTE / 3, MINUTE],
            _ => [MINUTE; 2],
        };
        assert_eq!([retry_after, quota.reset_after()], told);
    }
}

// R8: the fraction of a call that has come back is not lost.
pub(crate) async fn who_comes_when_told_is_admitted_and_not_before(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["3/7s"])) {
        for _ in 0..3 {
            take(&limiter, &user(), 1).await;
            rig.pass(Duration::from_millis(333)).await;
        }
        for _ in 0..6 {
            let retry_after = first_refusal(&limiter).await;
            rig.pass(retry_after - MS).await;
            assert_eq!(denied(&limiter.check(&user(), "free").await), MS);
            rig.pass(MS).await;
            take(&limiter, &user(), 1).await;
        }
    }
}

/// Takes all there is, and says when to come back.
async fn first_refusal(limiter: &Limiter) -> Duration {
    loop {
        if let Decision::Denied { retry_after, .. } = limiter.check(&user(), "free").await {
            return retry_after;
        }
    }
}

pub(crate) async fn a_quota_is_whole_after_the_time_that_is_told(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["3/minute"])) {
        take(&limiter, &user(), 1).await;
        rig.pass(SECOND).await;
        let last = limiter.check(&user(), "free").await;
        rig.pass(quota(&last).reset_after() - MS).await;
        assert!(left(&limiter, &user()).await < 3);
        rig.pass(MS).await;
        let peek = limiter.peek(&user(), "free").await;
        assert_eq!((quota(&peek).remaining(), quota(&peek).reset_after()), (3, Duration::ZERO));
    }
}

// R31, R32, R25: envoy burns the other descriptors, node-rate-limiter-flexible's union and many a snippet the other
// windows, with every call that is refused.
pub(crate) async fn a_refusal_takes_nothing_out_of_any_window(rig: impl Rig) {
    let tiers = free(["2/minute", "100/hour"]);
    for (_, limiter) in each_mode(&rig, tiers.clone()) {
        let mut admitted = 0;
        for _ in 0..50 {
            admitted += u64::from(limiter.check(&user(), "free").await.is_allowed());
            forget_refusals(&limiter, tiers.clone());
        }
        let peek = limiter.peek(&user(), "free").await;
        let remaining: Vec<_> = quota(&peek).windows().map(|window| window.remaining).collect();
        assert_eq!((admitted, remaining), (2, vec![0, 98]));
    }
}

pub(crate) async fn a_peek_takes_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["2/minute"])) {
        for _ in 0..5 {
            assert_eq!(left(&limiter, &user()).await, 2);
        }
        take(&limiter, &user(), 2).await;
        let told = denied(&limiter.peek(&user(), "free").await);
        assert_eq!(told, denied(&limiter.check(&user(), "free").await));
        rig.pass(told).await;
        assert!(limiter.peek(&user(), "free").await.is_allowed());
        take(&limiter, &user(), 1).await;
    }
}

pub(crate) async fn of_two_windows_the_binding_one_is_told(rig: impl Rig) {
    for (mode, limiter) in each_mode(&rig, free(["2/minute", "3/hour"])) {
        let first = limiter.check(&user(), "free").await;
        assert_eq!((quota(&first).window(), quota(&first).remaining()), (MINUTE, 1));
        take(&limiter, &user(), 1).await;
        let by_the_minute = limiter.check(&user(), "free").await;
        assert_eq!((quota(&by_the_minute).window(), quota(&by_the_minute).limit()), (MINUTE, 2));
        rig.pass(MINUTE * 2).await;
        take(&limiter, &user(), 1).await;
        let by_the_hour = limiter.check(&user(), "free").await;
        assert_eq!((quota(&by_the_hour).window(), quota(&by_the_hour).limit()), (HOUR, 3));
        let soonest = if mode == Mode::Gcra { MINUTE * 17 } else { MINUTE * 57 };
        assert!(denied(&by_the_hour) > soonest, "{by_the_hour:?}");
    }
}

// R9: what remains is never below nothing.
pub(crate) async fn twice_the_limit_at_once_is_the_limit(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["50/minute"])) {
        let who = user();
        let decisions = join_all((0..100).map(|_| limiter.check(&who, "free"))).await;
        assert_eq!(decisions.iter().filter(|decision| decision.is_allowed()).count(), 50);
        let mut remaining: Vec<_> = decisions.iter().map(|decision| quota(decision).remaining()).collect();
        remaining.sort_unstable();
        let expected: Vec<_> = (0..50).map(|_| 0).chain(0..50).collect();
        assert_eq!(remaining, expected);
    }
}

// R52: envoy's look of cost nothing races with the increments of others, and underflows.
pub(crate) async fn who_looks_while_others_take_takes_nothing(rig: impl Rig) {
    for (_, limiter) in each_mode(&rig, free(["50/minute"])) {
        let who = user();
        let calls = (0..80).map(|n| limiter.check_cost(&who, "free", n % 2));
        let decisions = join_all(calls).await;
        assert!(decisions.iter().all(Decision::is_allowed));
        assert!(decisions.iter().all(|decision| quota(decision).remaining() <= 50));
        assert_eq!(left(&limiter, &who).await, 10);
    }
}

/// The most that a mode admits in any trailing minute, of ten a minute.
fn bound(mode: Mode) -> usize {
    match mode {
        Mode::Strict | Mode::Log => 10,
        _ => 20,
    }
}

// R15: what a fixed window admits twice around its end.
pub(crate) async fn around_the_end_of_a_minute_the_bound_holds(rig: impl Rig) {
    for (mode, limiter) in each_mode(&rig, free(["10/minute"])) {
        let mut admitted = Vec::new();
        // The first call is where the minute of a fixed window would begin.
        for (passed, calls) in [(0, 1), (59, 10), (2, 10), (30, 10), (29, 10), (1, 10)] {
            rig.pass(SECOND * passed).await;
            let since = admitted.last().map_or(0, |(at, _)| *at) + passed;
            let mut taken = 0;
            for _ in 0..calls {
                taken += usize::from(limiter.check(&user(), "free").await.is_allowed());
            }
            admitted.push((since, taken));
        }
        println!("{mode:?}: {admitted:?}");
        assert_eq!(admitted[1].1, if mode == Mode::Gcra { 10 } else { 9 });
        for &(at, _) in &admitted {
            let trailing = admitted.iter().filter(|(then, _)| (at..at + 60).contains(then));
            assert!(trailing.map(|(_, taken)| taken).sum::<usize>() <= bound(mode));
        }
    }
}

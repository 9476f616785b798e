//! The key of a subject: one, which ends by itself and is read with care.

use forebay::{Subject, limiter::Mode};

use super::{Command, MINUTE};
use crate::{
    cases::limiter::{MODES, denied, free, left, limiter, quota, take, user},
    clocked::{ClockedRig, Clocks},
    rig::{Rig, SECOND},
};

// R18: INCR and EXPIRE are two steps in many a limiter. R21: Kong's milliseconds are taken for seconds. R45: all of a
// decision lies under one key.
pub(crate) async fn a_decision_is_one_key_that_ends_with_its_windows(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["5/minute", "9/s", "100/hour"]));
        let (key, before) = (rig.key(&limiter, &user()), rig.keys());
        for _ in 0..7 {
            let decision = limiter.check(&user(), "free").await;
            assert!(rig.life(&key) >= quota(&decision).reset_after().as_millis() as i64);
            assert!(rig.life(&key) <= 2 * 3_600_000, "{mode:?}: {}", rig.life(&key));
            rig.pass(SECOND).await;
        }
        assert_eq!(rig.keys(), before + 1);
        rig.pass(2 * 60 * MINUTE).await;
        assert_eq!(rig.call(&["EXISTS", &key]), "0");
    }
}

// R3, R26: redis-cell aborts the server, upstash's script compares a number with a string.
pub(crate) async fn what_is_no_count_counts_as_nothing_and_is_replaced(rig: ClockedRig<impl Clocks>) {
    let odd: [Command<'_>; 9] = [
        &["SET", "KEY", "abc"],
        &["SET", "KEY", ""],
        &["SET", "KEY", "1796000000000"],
        &["SET", "KEY", "S\0\0\0\0\0\u{1}\0\0\0\0\0\u{1}\0\0\0\0\0\u{1}\u{4}\0\0"],
        &["HSET", "KEY", "field", "value"],
        &["RPUSH", "KEY", "value"],
        &["SADD", "KEY", "member"],
        &["ZADD", "KEY", "1", "member", "2", "0000000000000001:1796000000000"],
        &["XADD", "KEY", "*", "field", "value"],
    ];
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["2/minute"]));
        for (n, command) in odd.iter().enumerate() {
            let (subject, before) = (Subject::user(n), rig.0.notes.unreadable());
            let key = rig.key(&limiter, &subject);
            let command: Vec<_> =
                command.iter().map(|&word| if word == "KEY" { &key } else { word }).collect();
            let written = rig.call(&command);
            assert!(!written.starts_with('-'), "{written}");
            assert_eq!(left(&limiter, &subject).await, 2, "{mode:?} reads {command:?}");
            rig.call(&command);
            take(&limiter, &subject, 2).await;
            assert!(rig.0.notes.unreadable() > before, "{mode:?} says nothing of {command:?}");
            denied(&limiter.check(&subject, "free").await);
            assert!(rig.life(&key) > 0, "{mode:?} keeps {command:?}: {}", rig.life(&key));
            rig.call(&["DEL", &key]);
        }
    }
}

// R18: a key without an end keeps its subject out for ever.
pub(crate) async fn a_key_that_was_made_to_stay_ends_again(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["2/minute"]));
        let key = rig.key(&limiter, &user());
        let persist = || assert_eq!(rig.call(&["PERSIST", &key]), "1");
        take(&limiter, &user(), 1).await;
        persist();
        assert_eq!(left(&limiter, &user()).await, 1);
        assert!(rig.life(&key) > 0, "{mode:?}: a look does not heal it");
        persist();
        take(&limiter, &user(), 1).await;
        assert!(rig.life(&key) > 0, "{mode:?}: a call that is admitted does not heal it");
        persist();
        denied(&limiter.check(&user(), "free").await);
        assert!(rig.life(&key) > 0, "{mode:?}: a call that is refused does not heal it");
        rig.pass(MINUTE * 2).await;
        take(&limiter, &user(), 2).await;
    }
}

pub(crate) async fn an_unlimited_tier_asks_nothing(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["0/minute"]).unlimited("internal").unwrap());
        let before = rig.scripts();
        for cost in [0, 1, u64::MAX] {
            assert!(limiter.check_cost(&user(), "internal", cost).await.is_allowed());
            denied(&limiter.check_cost(&user(), "free", cost).await);
        }
        assert_eq!((rig.scripts(), rig.keys()), (before, 0), "{mode:?}");
    }
}

/// The snippet that is copied everywhere, for each window by itself: it adds, and then looks.
fn everybodys(
    rig: &ClockedRig<impl Clocks>,
    key: &str,
    call: usize,
    now: u64,
    window: u64,
    limit: u64,
) -> bool {
    let began = (now - window).to_string();
    rig.call(&["ZREMRANGEBYSCORE", key, "-inf", &began]);
    rig.call(&["ZADD", key, &now.to_string(), &call.to_string()]);
    rig.call(&["PEXPIRE", key, &window.to_string()]);
    rig.call(&["ZCARD", key]).parse::<u64>().unwrap() <= limit
}

// R31: what two windows cost that are decided one after the other, and what they cost here.
pub(crate) async fn the_snippet_that_everybody_copies_takes_for_refusals_too(rig: ClockedRig<impl Clocks>) {
    let keys = ["minute", "hour"].map(|window| format!("copied:{}:{{{window}}}", rig.0.app));
    for call in 0..50 {
        let now = 1_800_000_000_000 + call as u64 * 1000;
        let minute = everybodys(&rig, &keys[0], call, now, 60_000, 2);
        let hour = everybodys(&rig, &keys[1], call, now, 3_600_000, 100);
        assert_eq!(minute && hour, call < 2);
    }
    assert_eq!(rig.call(&["ZCARD", &keys[1]]), "50");
    for mode in [Mode::Strict, Mode::Log] {
        let limiter = limiter(&rig, mode, free(["2/minute", "100/hour"]));
        for call in 0..50 {
            assert_eq!(limiter.check(&user(), "free").await.is_allowed(), call < 2, "{mode:?}");
            rig.pass(SECOND).await;
        }
        let peek = limiter.peek(&user(), "free").await;
        assert_eq!(quota(&peek).windows().last().unwrap().remaining, 98, "{mode:?}");
    }
}

//! Whose time it is: the server's, which may step.

use std::time::Duration;

use forebay::{
    Forebay,
    cache::{Cache, Loaded, Put},
    limiter::{Limiter, Mode},
};

use super::MINUTE;
use crate::{
    cases::limiter::{MODES, denied, forget_refusals, free, left, limiter, take, user},
    clocked::{ClockedRig, Clocks},
    memory::MemoryRig,
    rig::{Rig, SECOND, held},
};

fn in_process(forebay: &Forebay, mode: Mode, windows: &str) -> Limiter {
    let policy = format!("{mode:?}").to_lowercase();
    forebay.limiter(&policy, free([windows])).mode(mode).build().unwrap()
}

/// Until `cache` has no value for "a", which another process has invalidated.
async fn forgotten(cache: &Cache<String>) {
    for _ in 0..1000 {
        if held(cache, "a").await.is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("the value is still there");
}

// C9: FusionCache #319, where a process whose clock is 15 minutes off does not see what was removed.
pub(crate) async fn clocks_of_processes_that_are_apart_change_nothing_about_tags(
    rig: ClockedRig<impl Clocks>,
) {
    let processes = [rig.process(Duration::ZERO).await, rig.process(MINUTE * 15).await];
    let [one, other] =
        processes.each_ref().map(|process| process.cache::<String>("case", MINUTE * 60).build().unwrap());
    for (writer, reader) in [(&one, &other), (&other, &one)] {
        for round in 0..3 {
            let loaded = Loaded::new(round.to_string()).tag("red");
            assert_eq!(writer.put("a", loaded).await.unwrap(), Put::Stored);
            assert_eq!(held(reader, "a").await, Some(round.to_string()));
            writer.invalidate_tag("red").await;
            assert_eq!(held(writer, "a").await, None);
            forgotten(reader).await;
        }
    }
}

// R35: the counts of several processes are one count.
pub(crate) async fn clocks_of_processes_that_are_apart_change_nothing(rig: ClockedRig<impl Clocks>) {
    let processes = [rig.process(Duration::ZERO).await, rig.process(SECOND * 10).await];
    for mode in MODES {
        let [one, other] = [0, 1].map(|n| in_process(&processes[n], mode, "10/minute"));
        for n in 0..5 {
            take(&one, &user(), 1).await;
            assert_eq!(left(&other, &user()).await, 9 - 2 * n, "{mode:?}");
            take(&other, &user(), 1).await;
        }
        let told = [denied(&one.check(&user(), "free").await), denied(&other.check(&user(), "free").await)];
        assert_eq!(told[0], told[1], "{mode:?}");
        rig.0.servers.clock.advance(told[0]);
        forget_refusals(&one, free(["10/minute"]));
        assert!(other.peek(&user(), "free").await.is_allowed(), "{mode:?}");
        take(&one, &user(), 1).await;
    }
}

// The process is not told: only the server's clock moves.
pub(crate) async fn a_clock_that_steps_back_frees_nothing_and_freezes_nobody(rig: ClockedRig<impl Clocks>) {
    let tiers = free(["10/minute"]);
    for mode in MODES {
        let limiter = limiter(&rig, mode, tiers.clone());
        let refresh = || limiter.replace_tiers(tiers.clone()).unwrap();
        take(&limiter, &user(), 5).await;
        rig.pass(SECOND * 20).await;
        while limiter.check(&user(), "free").await.is_allowed() {}
        let told = denied(&limiter.check(&user(), "free").await);
        for _ in 0..2 {
            rig.0.servers.clock.step_back(Duration::from_hours(1));
            refresh();
            assert_eq!(denied(&limiter.check(&user(), "free").await), told, "{mode:?}");
        }
        rig.0.servers.clock.advance(told - Duration::from_millis(1));
        refresh();
        denied(&limiter.check(&user(), "free").await);
        rig.0.servers.clock.advance(Duration::from_millis(1));
        refresh();
        take(&limiter, &user(), 1).await;
        rig.0.servers.clock.advance(MINUTE * 2);
        assert_eq!(left(&limiter, &user()).await, 10, "{mode:?}");
    }
}

// A call that is admitted after the step writes the new time, too.
pub(crate) async fn after_a_step_back_the_limit_holds(rig: ClockedRig<impl Clocks>) {
    for mode in MODES {
        let limiter = limiter(&rig, mode, free(["10/minute"]));
        for _ in 0..5 {
            rig.pass(SECOND).await;
            rig.0.servers.clock.step_back(Duration::from_hours(1));
            take(&limiter, &user(), 2).await;
        }
        forget_refusals(&limiter, free(["10/minute"]));
        let told = denied(&limiter.check(&user(), "free").await);
        assert!(told <= MINUTE * 2, "{mode:?}: {told:?}");
        let life = rig.life(&rig.key(&limiter, &user()));
        assert!((1..=2 * 60_000).contains(&life), "{mode:?}: {life}");
    }
}

// Beside it, the same calls of a process in whose own store that time passes.
pub(crate) async fn a_clock_that_steps_forward_frees_what_that_time_would(rig: ClockedRig<impl Clocks>) {
    let passing = MemoryRig::new().await;
    for mode in MODES {
        let limiters =
            [limiter(&rig, mode, free(["10/minute"])), limiter(&passing, mode, free(["10/minute"]))];
        for step in [1, 20, 41, 10, 65, 3600] {
            let mut admitted = [0, 0];
            for (limiter, admitted) in limiters.iter().zip(&mut admitted) {
                limiter.replace_tiers(free(["10/minute"])).unwrap();
                while limiter.check(&user(), "free").await.is_allowed() {
                    *admitted += 1;
                }
            }
            assert_eq!(admitted[0], admitted[1], "{mode:?}: {admitted:?}");
            rig.0.servers.clock.advance(SECOND * step);
            passing.pass(SECOND * step).await;
        }
    }
}

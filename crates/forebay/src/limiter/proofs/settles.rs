//! A reservation settled: once, where it was taken, and only while that counts.

use super::{
    laws::MODES,
    model::{Rule, rule},
    scripts::{Scripts, Verdict},
};
use crate::limiter::Mode;

const RULES: [Rule; 1] = [Rule { window: 1_000, limit: 10, burst: 10 }];

fn ask(scripts: &Scripts, cost: i64) -> Verdict {
    scripts.ask(cost, true, &RULES).unwrap()
}

fn used(scripts: &Scripts) -> i64 {
    scripts.ask(1, false, &RULES).unwrap().windows[0].0
}

/// R41: only what was really spent stays taken, and whoever remembers a refusal hears of it.
#[test]
fn what_was_not_used_is_given_back_at_once_and_told() {
    for mode in MODES {
        let scripts = Scripts::shipped(mode);
        let held = ask(&scripts, 8).hold;
        assert!(!ask(&scripts, 3).admitted);
        assert!(scripts.settle(&held, [8, 1], &RULES).unwrap());
        assert_eq!(used(&scripts), 1, "{mode:?}");
        assert_eq!(*scripts.server.published(), [(b"channel".to_vec(), b"freed".to_vec())]);
        assert!(ask(&scripts, 9).admitted && !ask(&scripts, 1).admitted, "{mode:?}");
    }
}

#[test]
fn what_was_used_beyond_the_reservation_counts_up_to_the_limit() {
    for mode in MODES {
        for (actual, counted) in [(5, 7), (8, 10), (1_000, 10)] {
            let scripts = Scripts::shipped(mode);
            let held = ask(&scripts, 3).hold;
            ask(&scripts, 2);
            assert!(scripts.settle(&held, [3, actual], &RULES).unwrap());
            assert_eq!(used(&scripts), counted, "{mode:?}, {actual}");
            assert!(scripts.server.published().is_empty());
        }
    }
}

/// The second taker's cost must stay, though the key was never empty.
#[test]
fn a_reservation_that_has_left_the_window_gives_nothing_back() {
    for mode in MODES {
        let scripts = Scripts::shipped(mode);
        let held = ask(&scripts, 5).hold;
        for wait in [900, 900, 500] {
            scripts.step(wait);
            assert!(ask(&scripts, 1).admitted, "{mode:?}");
        }
        let before = used(&scripts);
        scripts.settle(&held, [5, 0], &RULES).unwrap();
        assert_eq!(used(&scripts), before, "{mode:?}");
        scripts.settle(&held, [5, 9], &RULES).unwrap();
        assert_eq!(used(&scripts), before, "{mode:?}");
    }
}

/// R44: a reset gives the whole quota back, and no older reservation reaches what was taken since.
#[test]
fn a_reservation_from_before_a_reset_gives_nothing_back() {
    for mode in MODES {
        for wait in [0, 1, 400] {
            let scripts = Scripts::shipped(mode);
            let held = ask(&scripts, 6).hold;
            scripts.step(wait);
            scripts.reset();
            assert!(ask(&scripts, 10).admitted, "{mode:?}");
            assert!(!scripts.settle(&held, [6, 0], &RULES).unwrap(), "{mode:?}, {wait}");
            assert!(!scripts.settle(&held, [6, 7], &RULES).unwrap(), "{mode:?}, {wait}");
            assert_eq!(used(&scripts), 10, "{mode:?}");
        }
    }
}

/// The first refund lowers the debt under the second reservation, which was paid off before the others came.
#[test]
fn two_refunds_never_free_what_somebody_else_took() {
    for mode in MODES {
        let scripts = Scripts::shipped(mode);
        let rules = [rule(8, 1_000)];
        let take = |cost: i64| scripts.ask(cost, true, &rules).unwrap();
        let [first, second] = [take(4).hold, take(4).hold];
        scripts.settle(&first, [4, 0], &rules).unwrap();
        scripts.step(500);
        let third = take(if mode == Mode::Gcra { 8 } else { 4 });
        assert!(third.admitted, "{mode:?}");
        scripts.settle(&second, [4, 0], &rules).unwrap();
        let most = if mode == Mode::Gcra { 0 } else { 4 };
        assert!(!take(most + 1).admitted, "{mode:?}");
    }
}

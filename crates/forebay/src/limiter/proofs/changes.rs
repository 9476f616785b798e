//! What may happen to a subject besides checks: settlements, another tier, a key without its life limit.

use proptest::prelude::*;

use super::{
    histories::{settling, suited, tiers, wandering},
    laws::MODES,
    model::{Rule, rule},
    scripts::Scripts,
    trial::{
        Step::{Check, Jump, Peek, Persist, Tier, Wait},
        Trial,
    },
};
use crate::limiter::Mode;

/// Tiers that share windows, with limits that fall and rise again.
pub(super) fn related(mode: Mode) -> Vec<Vec<Rule>> {
    // A debt is paid off at the rate of its tier, which no list tells.
    let lower = if mode == Mode::Gcra { rule(10, 1_000) } else { rule(4, 1_000) };
    vec![
        vec![rule(10, 1_000)],
        vec![rule(10, 1_000), rule(20, 5_000)],
        vec![rule(3, 7), rule(20, 5_000)],
        vec![lower],
        vec![rule(20, 5_000), lower, rule(2, 3)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn settlements_keep_every_law((rules, steps) in tiers().prop_flat_map(|rules| (Just(rules.clone()), settling(&rules)))) {
        for mode in MODES {
            let played = Trial::new(Scripts::shipped(mode), &[suited(mode, &rules)]).play(&steps);
            prop_assert!(played.is_ok(), "{mode:?}: {played:?}");
        }
    }

    #[test]
    fn changes_of_tier_keep_every_law(steps in wandering(&related(Mode::Strict))) {
        for mode in MODES {
            let played = Trial::new(Scripts::shipped(mode), &related(mode)).play(&steps);
            prop_assert!(played.is_ok(), "{mode:?}: {played:?}");
        }
    }
}

fn trial(mode: Mode, tiers: &[Vec<Rule>]) -> Trial {
    Trial::new(Scripts::shipped(mode), tiers)
}

#[test]
fn a_limit_below_what_is_used_refuses_until_enough_has_left() {
    // How long a debt lasts depends on the rate at which it was made, which the list does not tell.
    for mode in [Mode::Strict, Mode::Sliding, Mode::Log] {
        let mut trial = trial(mode, &[vec![rule(10, 1_000)], vec![rule(4, 1_000)], vec![rule(12, 1_000)]]);
        trial.play(&[Check(9), Tier(1)]).unwrap();
        assert!(!trial.scripts.ask(1, true, &[rule(4, 1_000)]).unwrap().admitted, "{mode:?}");
        trial.play(&[Tier(2)]).unwrap();
        assert!(trial.check(3).unwrap().admitted && !trial.check(1).unwrap().admitted, "{mode:?}");
        trial.play(&[Tier(0), Wait(2_300)]).unwrap();
        assert!(trial.check(10).unwrap().admitted, "{mode:?}");
    }
}

#[test]
fn a_tier_that_comes_back_finds_what_it_had_taken() {
    for mode in MODES {
        let mut trial = trial(mode, &[vec![rule(10, 5_000)], vec![rule(3, 70)], vec![rule(8, 900)]]);
        trial.play(&[Check(10), Tier(1), Check(1), Wait(300), Check(2), Tier(2), Check(8), Tier(0)]).unwrap();
        let verdict = trial.check(1).unwrap();
        assert!(!verdict.admitted && verdict.windows[0].0 >= 10, "{mode:?}: {verdict:?}");
    }
}

/// A clock that steps back, or a lost life limit, is met in a tier whose windows are short.
#[test]
fn the_windows_of_another_tier_outlive_a_clock_that_steps_back() {
    for mode in MODES {
        for mishap in [Jump(-10), Persist] {
            let mut trial = trial(mode, &[vec![rule(10, 60_000)], vec![rule(3, 50)]]);
            trial
                .play(&[
                    Check(10),
                    Tier(1),
                    Check(2),
                    Wait(20),
                    mishap,
                    Check(2),
                    Peek(2),
                    Wait(10_000),
                    Tier(0),
                ])
                .unwrap();
            assert!(!trial.check(6).unwrap().admitted, "{mode:?}");
        }
    }
}

/// The first bytes of a count may be those of a length.
#[test]
fn a_window_that_comes_is_not_mistaken_for_a_count() {
    for mode in [Mode::Sliding, Mode::Strict] {
        // Of a limit this large a count has six bytes in every mode, and so five before its last.
        let (minute, second) = (rule(1 << 32, 60_000), rule(10, 1_000));
        let trial = trial(mode, &[vec![minute], vec![minute, second]]);
        let taken = 256 * 1_000 + 7;
        assert!(trial.scripts.ask(taken, true, &[minute]).unwrap().admitted, "{mode:?}");
        assert!(trial.scripts.ask(10, true, &[minute, second]).unwrap().admitted, "{mode:?}");
        let verdict = trial.scripts.ask(1, true, &[minute, second]).unwrap();
        assert!(!verdict.admitted, "{mode:?}");
    }
}

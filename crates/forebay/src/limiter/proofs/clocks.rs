//! The server's clock jumps: back it frees nothing and freezes nobody, forward it frees what that time would have.

use proptest::prelude::*;

use super::{
    histories::{jumping, suited, tiers},
    laws::MODES,
    model::{List, Rule, Taken},
    scripts::Scripts,
    trial::{
        Step::{self, Jump, Wait},
        Trial,
    },
};
use crate::limiter::Mode;

const HOUR: i64 = 3_600_000;
const MINUTE: Rule = Rule { window: 60_000, limit: 10, burst: 10 };

fn spent(mode: Mode) -> Trial {
    let mut trial = Trial::new(Scripts::shipped(mode), &[vec![MINUTE]]);
    assert!((0..10).all(|_| trial.check(1).unwrap().admitted));
    assert!(!trial.check(1).unwrap().admitted);
    trial
}

#[test]
fn a_clock_that_steps_back_an_hour_frees_nothing() {
    for mode in MODES {
        let mut trial = spent(mode);
        trial.play(&[Wait(1_000), Jump(-HOUR)]).unwrap();
        // The second passed before a script could see it, and counts for nothing.
        assert!(!trial.check(1).unwrap().admitted, "{mode:?}");
        assert_eq!(trial.check(10).unwrap().windows[0].0, 10, "{mode:?}");
    }
}

#[test]
fn a_clock_that_steps_back_an_hour_freezes_nobody() {
    for mode in MODES {
        let mut trial = spent(mode);
        trial.play(&[Wait(30_000), Jump(-HOUR)]).unwrap();
        let refused = trial.check(1).unwrap();
        assert!(refused.retry <= 67_000, "{mode:?}: {refused:?}");
        trial.scripts.step(120_000);
        assert!(trial.check(10).unwrap().admitted, "{mode:?}");
    }
}

#[test]
fn a_clock_that_steps_forward_frees_what_that_time_would_have() {
    for mode in MODES {
        let mut trial = spent(mode);
        trial.scripts.step(54_000);
        let free = 10 - trial.peek(1).unwrap().windows[0].0;
        assert_eq!(free, if mode == Mode::Gcra { 9 } else { 0 }, "{mode:?}");
        trial.scripts.step(HOUR);
        assert!(trial.check(10).unwrap().admitted, "{mode:?}");
        assert!(!trial.check(1).unwrap().admitted, "{mode:?}");
    }
}

/// The bound by a clock that never jumps, of arrivals during which the server's goes back now and then.
fn keeps_the_bound_in_steady_time(mode: Mode, rules: &[Rule], steps: &[Step]) -> Result<(), String> {
    let mut trial = Trial::new(Scripts::shipped(mode), &[rules.to_vec()]);
    let (mut steady, mut list) = (0, List::default());
    for step in steps {
        let (before, count) = (trial.scripts.now(), trial.admitted.len());
        trial.step(step)?;
        if !matches!(step, Jump(_)) {
            steady += trial.scripts.now() - before;
        }
        if let Some(held) = trial.admitted.get(count) {
            list.take(Taken { at: steady, cost: held.cost, most: held.cost, check: count });
            rules.iter().try_for_each(|rule| mode.bound(*rule, &list, steady))?;
        }
    }
    Ok(())
}

fn histories(only_back: bool) -> impl Strategy<Value = (Vec<Rule>, Vec<Step>)> {
    tiers().prop_flat_map(move |rules| (Just(rules.clone()), jumping(&rules, only_back)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_mode_keeps_its_laws_in_the_keys_own_time((rules, steps) in histories(false)) {
        for mode in MODES {
            let played = Trial::new(Scripts::shipped(mode), &[suited(mode, &rules)]).play(&steps);
            prop_assert!(played.is_ok(), "{mode:?}: {played:?}");
        }
    }

    #[test]
    fn steps_back_break_no_bound_in_steady_time((rules, steps) in histories(true)) {
        for mode in MODES {
            let kept = keeps_the_bound_in_steady_time(mode, &suited(mode, &rules), &steps);
            prop_assert!(kept.is_ok(), "{mode:?}: {kept:?}");
        }
    }
}

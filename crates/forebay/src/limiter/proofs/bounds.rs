//! Each mode's bound, and that it refuses nothing that its definition admits.

use proptest::prelude::*;

use super::{
    histories::{arrivals, mean, suited, tiers},
    laws::MODES,
    model::rule,
    scripts::Scripts,
    trial::Trial,
};

#[test]
fn every_mode_keeps_its_laws_over_mean_arrivals() {
    for mode in MODES {
        for rules in
            [vec![rule(10, 60)], vec![rule(1, 7), rule(3, 40)], vec![rule(5, 10), rule(8, 37), rule(13, 100)]]
        {
            for history in mean(&rules) {
                let tiers = [rules.clone()];
                Trial::new(Scripts::shipped(mode), &tiers)
                    .play(&history)
                    .unwrap_or_else(|broken| panic!("{mode:?}, {rules:?}: {broken}\n{history:?}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, max_shrink_iters: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_mode_keeps_its_laws_over_random_arrivals((rules, steps) in tiers().prop_flat_map(|rules| (Just(rules.clone()), arrivals(&rules)))) {
        for mode in MODES {
            let played = Trial::new(Scripts::shipped(mode), &[suited(mode, &rules)]).play(&steps);
            prop_assert!(played.is_ok(), "{mode:?}: {played:?}");
        }
    }
}

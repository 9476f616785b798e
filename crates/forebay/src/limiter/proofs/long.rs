//! Long histories: what is used and what is free are always the limit together, however long it goes on.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    laws::MODES,
    model::{Rule, rule},
    scripts::Scripts,
    trial::{
        Step::{Check, Peek, Persist, Settle, Wait},
        Trial,
    },
};

const OPERATIONS: usize = 25_000;

/// R17, R9. Pauses longer than every window come now and then, as nights do.
#[test]
fn nothing_is_lost_or_won_over_a_hundred_thousand_operations() {
    for mode in MODES {
        let rules = [rule(20, 400), Rule { window: 3_000, limit: 60, burst: 60 }];
        let mut trial = Trial::new(Scripts::shipped(mode), &[rules.to_vec()]);
        let mut dice = StdRng::seed_from_u64(17);
        for operation in 0..OPERATIONS {
            let step = match dice.random_range(0..1_000) {
                0..500 => Check(dice.random_range(1..=4)),
                500..850 => Wait(dice.random_range(0..60)),
                850..900 => Peek(dice.random_range(1..=20)),
                900..990 => Settle(dice.random_range(0..4), dice.random_range(0..=4)),
                990..995 => Persist,
                _ => Wait(3_500),
            };
            trial.step(&step).unwrap_or_else(|broken| panic!("{mode:?}, {operation}, {step:?}: {broken}"));
            trial.model.trim(trial.model.clock.age(trial.scripts.now()));
        }
    }
}

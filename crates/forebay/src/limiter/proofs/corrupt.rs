//! Whatever lies under a subject's key, a check goes on: what cannot be read counts as nothing, and goes away.

use proptest::{collection::vec, prelude::*};

use super::{
    laws::MODES,
    model::{Rule, rule},
    scripts::{KEY, Scripts},
    server::{Sorted, Value},
    trial::Trial,
};
use crate::limiter::Mode;

const RULE: Rule = Rule { window: 1_000, limit: 3, burst: 3 };

fn text(bytes: &[u8]) -> Value {
    Value::Text(bytes.to_vec())
}

fn members(of: &[(i64, &str)]) -> Value {
    let mut sorted = Sorted::default();
    for (score, member) in of {
        sorted.add(*score, member.as_bytes());
    }
    Value::Sorted(sorted)
}

/// R3, R26, R13.
#[test]
fn what_is_unreadable_counts_as_nothing_and_is_told() {
    for mode in MODES {
        for value in [
            text(b"abc"),
            text(b""),
            text(b"17"),
            text(&[0; 64]),
            text(&[255; 300]),
            Value::Other,
            members(&[(5, "other")]),
        ] {
            for (take, life) in [(true, None), (true, Some(50)), (false, Some(50))] {
                let scripts = Scripts::shipped(mode);
                scripts.server.put(KEY, value.clone(), life);
                let verdict = scripts.ask(1, take, &[RULE]).unwrap();
                assert!(verdict.admitted && !verdict.readable, "{mode:?}, {value:?}: {verdict:?}");
                assert_eq!(verdict.windows[0].0, i64::from(take), "{mode:?}, {value:?}");
            }
        }
    }
}

/// The value of one mode under the key of another, after a policy has changed its mode.
#[test]
fn what_another_mode_has_written_counts_as_nothing() {
    for (mode, other) in MODES.into_iter().flat_map(|mode| MODES.map(|other| (mode, other))) {
        let written = Scripts::shipped(other);
        written.ask(3, true, &[RULE]).unwrap();
        let scripts = Scripts::shipped(mode);
        scripts.server.put(KEY, written.entry().unwrap().value, Some(1_000));
        let verdict = scripts.ask(1, true, &[RULE]).unwrap();
        assert_eq!(verdict.admitted, mode != other, "{other:?} read by {mode:?}");
        assert_eq!(verdict.readable, mode == other, "{other:?} read by {mode:?}");
    }
}

/// R18.
#[test]
fn a_key_without_a_life_limit_gets_one_from_any_check() {
    for mode in MODES {
        for (cost, take) in [(1, true), (3, true), (1, false), (3, false)] {
            let mut trial = Trial::new(Scripts::shipped(mode), &[vec![RULE]]);
            trial.check(1).unwrap();
            trial.scripts.persist();
            let verdict = if take { trial.check(cost) } else { trial.peek(cost) };
            verdict.unwrap_or_else(|broken| panic!("{mode:?}, {cost}: {broken}"));
            assert!(trial.scripts.entry().unwrap().deadline.is_some(), "{mode:?}");
            trial.scripts.step(2_001);
            assert!(trial.check(3).unwrap().admitted, "{mode:?}");
        }
    }
}

/// R20: a life cut short by somebody else frees what it held, and count and reset time go together.
#[test]
fn a_key_that_goes_early_takes_its_reset_time_along() {
    for mode in MODES {
        let scripts = Scripts::shipped(mode);
        for _ in 0..10 {
            let fresh = scripts.ask(2, true, &[RULE]).unwrap();
            assert_eq!(fresh.windows[0].0, 2, "{mode:?}");
            scripts.server.command(&["PEXPIRE", KEY, "1"]);
            scripts.step(2);
            assert_eq!(scripts.ask(3, false, &[RULE]).unwrap().windows[0], (0, 0), "{mode:?}");
        }
    }
}

/// Bytes of a value of ours with some of them changed, or cut short.
fn spoiled() -> impl Strategy<Value = Vec<(usize, u8)>> {
    vec((0..200_usize, prop_oneof![Just(0), any::<u8>()]), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_spoiled_value_never_fails_a_script(changes in spoiled(), cut in 0..200_usize, random in vec(any::<u8>(), 0..120)) {
        for mode in [Mode::Strict, Mode::Sliding, Mode::Gcra] {
            let scripts = Scripts::shipped(mode);
            let rules = [RULE, rule(5, 60_000)];
            scripts.ask(2, true, &rules).unwrap();
            scripts.step(150);
            scripts.ask(1, true, &rules).unwrap();
            let Some(Value::Text(whole)) = scripts.entry().map(|entry| entry.value) else { panic!("a string") };
            scripts.server.be_lenient();
            let mut changed = whole.clone();
            for (place, byte) in &changes {
                let place = place % changed.len();
                changed[place] = *byte;
            }
            let headed = [&whole[..1], &random].concat();
            for value in [changed, whole[..cut.min(whole.len())].to_vec(), random.clone(), headed] {
                for (cost, take, asked) in [(1, true, &rules[..]), (3, true, &rules[..1]), (1, false, &rules[1..])] {
                    scripts.server.put(KEY, text(&value), Some(500));
                    let verdict = scripts.ask(cost, take, asked);
                    prop_assert!(verdict.is_ok(), "{mode:?} over {value:?}: {verdict:?}");
                }
            }
        }
    }

    #[test]
    fn a_spoiled_log_never_fails_a_script(members in vec((-2_000..2_000_i64, "[0-9]{15,17}:[0-9]{14,16}|[0-9:]*|.*"), 1..5)) {
        let mut sorted = Sorted::default();
        for (score, member) in &members {
            sorted.add(*score, member.as_bytes());
        }
        let scripts = Scripts::shipped(Mode::Log);
        for take in [false, true, true] {
            scripts.server.put(KEY, Value::Sorted(sorted.clone()), Some(500));
            let verdict = scripts.ask(1, take, &[RULE, rule(5, 60_000)]);
            prop_assert!(verdict.is_ok(), "{verdict:?}");
        }
    }
}

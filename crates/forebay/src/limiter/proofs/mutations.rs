//! The proofs can fail: every small change to a script below breaks a law.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    histories::mean,
    laws::MODES,
    model::{Rule, rule},
    scripts::Scripts,
    trial::{
        Step::{self, Check, Jump, Peek, Persist, Settle, Tier, Wait},
        Trial,
    },
};
use crate::limiter::Mode;

/// What is wrong: a mode, what its script says, and what it would say.
const MUTATIONS: [(Mode, &str, &str); 34] = [
    (Mode::Strict, "used + cost > ARGV", "used + cost >= ARGV"),
    (Mode::Strict, "used + cost > ARGV", "used + cost - 1 > ARGV"),
    (Mode::Strict, "if passed > 10 then", "if passed > 9 then"),
    (Mode::Strict, "if cell > 10 - passed then", "if cell > 11 - passed then"),
    (Mode::Strict, "if cell > 10 - passed then", "if cell >= 10 - passed then"),
    (Mode::Strict, "floor(age * 10 / length)", "floor(age * 9 / length)"),
    (Mode::Strict, "floor(age * 10 / length)", "math.ceil(age * 10 / length)"),
    (Mode::Strict, "pack(form, used + cost, older)", "pack(form, used, older)"),
    (Mode::Strict, "passed <= 10 then", "passed <= 1 then"),
    (Mode::Strict, "elseif used > 0 then", "elseif used > 9 then"),
    (Mode::Sliding, "> (ARGV[4 + n] - current - cost)", ">= (ARGV[4 + n] - current - cost)"),
    (Mode::Sliding, "previous * (length - into) >", "previous * (length - into - 1) >"),
    (Mode::Sliding, "if gone > into then", "if gone >= into then"),
    (Mode::Sliding, "gone <= into + length and", "gone < into + length and"),
    (Mode::Sliding, "gone <= into + length and", "gone <= length and"),
    (Mode::Sliding, "pack('>I6I6', current + cost, previous)", "pack('>I6I6', current + cost, 0)"),
    (Mode::Sliding, "local least = passed == 0 and -current", "local least = passed == 0 and -previous"),
    (Mode::Gcra, "if debt > ARGV[4 + 2 * n]", "if debt >= ARGV[4 + 2 * n]"),
    (Mode::Gcra, "debt - gone * rate", "debt - (gone + 1) * rate"),
    (Mode::Gcra, "debt - gone * rate", "debt - math.max(0, gone - 1) * rate"),
    (Mode::Gcra, "if debt < 0 then", "if debt < -1 then"),
    (Mode::Gcra, "debt + cost * length", "debt + cost * (length - 1)"),
    (Mode::Gcra, "(returned - returned_then)", "(returned - returned)"),
    (Mode::Gcra, "local paid = (written - held)", "local paid = (written - written)"),
    (Mode::Log, "if beyond > 0 then", "if beyond > 1 then"),
    (Mode::Log, "if beyond > 0 then", "if beyond >= 0 then"),
    (Mode::Log, "'(' .. text(age - length)", "text(age - length)"),
    (Mode::Log, "'(' .. text(age - length)", "'(' .. text(age - length + 1)"),
    (Mode::Log, "leaving[2] + length - age", "leaving[2] + length - age - 1"),
    (Mode::Log, "leaving[2] + length - age", "leaving[2] + length - age + 1"),
    (Mode::Log, "text(age - horizon)", "text(age - horizon + 1)"),
    (Mode::Log, "newest[1] and now < last", "newest[1] and now < 0"),
    (Mode::Log, "written + math.max(0, now - last)", "written + now - last"),
    (Mode::Log, "for n = actual, reserved - 1 do", "for n = actual, reserved do"),
];

/// What all packed modes share.
const SHARED: [(&str, &str); 6] = [
    ("now > last and written + now - last or written", "written + now - last"),
    ("if now < last then", "if now < 0 then"),
    ("redis.call('PTTL', key) == -1", "redis.call('PTTL', key) == -3"),
    ("if fits == 1 and ARGV[4] == '1' then", "if fits == 1 then"),
    ("MODE, now, age, born, returned)", "MODE, now, written, born, returned)"),
    ("windows[length] = nil\n        end\n        for length", "end\n        for length"),
];

fn tiers() -> [Vec<Vec<Rule>>; 3] {
    let pair = [rule(4, 100), rule(6, 1_000)];
    [
        vec![vec![rule(10, 60)]],
        vec![vec![rule(1, 7), rule(3, 40)]],
        vec![pair.to_vec(), vec![pair[0]], vec![pair[1]]],
    ]
}

/// What else may happen, over the last of the tiers.
fn changes() -> Vec<Step> {
    let round = |n: i64| {
        let steps = [
            Check(1),
            Check(2),
            Settle(0, 1),
            Wait(3 + 11 * n),
            Check(1),
            Peek(1),
            Tier(1),
            Check(1),
            Jump(-40 - n),
        ];
        let more = [
            Check(1),
            Check(4),
            Tier(2),
            Check(2),
            Settle(0, 0),
            Persist,
            Check(6),
            Persist,
            Check(1),
            Tier(0),
        ];
        let last =
            [Check(1), Wait(89 - n), Settle(2, 0), Check(1), Jump(400), Check(1), Wait(1_000), Check(1)];
        steps.into_iter().chain(more).chain(last)
    };
    let early = [Check(2), Check(2), Settle(1, 0), Peek(1), Wait(450), Check(2), Settle(1, 0), Check(4)];
    let late = [Wait(700), Check(4), Settle(1, 0), Check(4), Wait(90), Check(1), Check(1)];
    early.into_iter().chain(late).chain((0..8).flat_map(round)).collect()
}

/// Plays everything that is mean, and errs at the first law that is broken.
fn plays(mode: Mode, change: &dyn Fn(&str) -> String) -> Result<(), String> {
    let [.., last] = tiers();
    Trial::new(Scripts::changed(mode, change), &last).play(&changes())?;
    let played = |tiers: &Vec<Vec<Rule>>| {
        let mut histories = mean(&tiers[0]).into_iter();
        histories.try_for_each(|history| Trial::new(Scripts::changed(mode, change), tiers).play(&history))
    };
    tiers().iter().try_for_each(played)
}

/// Whether a law is broken, or what a script says makes no sense at all.
fn is_caught(mode: Mode, from: &str, to: &str) -> bool {
    let found = std::cell::Cell::new(0);
    let change = |text: &str| {
        found.set(text.matches(from).count().max(found.get()));
        text.replace(from, to)
    };
    let played = catch_unwind(AssertUnwindSafe(|| plays(mode, &change)));
    assert_eq!(found.get(), 1, "{mode:?} has {from:?} in its scripts once");
    played.map_or(true, |played| played.is_err())
}

#[test]
fn the_shipped_scripts_break_no_law() {
    for mode in MODES {
        plays(mode, &str::to_owned).unwrap_or_else(|broken| panic!("{mode:?}: {broken}"));
    }
}

#[test]
fn every_mutation_breaks_a_law() {
    let packed = [Mode::Strict, Mode::Sliding, Mode::Gcra];
    let shared = packed.into_iter().flat_map(|mode| SHARED.map(|(from, to)| (mode, from, to)));
    let unseen: Vec<_> =
        MUTATIONS.into_iter().chain(shared).filter(|(mode, from, to)| !is_caught(*mode, from, to)).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");
}

//! Histories to play: those that are known to be mean, and random ones.

use proptest::{collection::vec, prelude::*};

use super::{
    model::Rule,
    trial::Step::{self, Check, Jump, Peek, Return, Settle, Tier, Wait},
};
use crate::limiter::Mode;

/// As many single checks as fill the window, and two more.
fn flood(rule: Rule) -> impl Iterator<Item = Step> {
    (0..rule.limit + 2).map(|_| Check(1))
}

/// Full bursts just before and just after the boundary of a window, or of a tenth of one.
fn bursts_around(rule: Rule, boundary: i64) -> Vec<Step> {
    let mut steps = vec![Check(1), Wait(boundary - 1)];
    for _ in 0..4 {
        steps.extend(flood(rule));
        steps.push(Wait(2));
        steps.extend(flood(rule));
        steps.push(Wait(boundary - 2));
    }
    steps
}

/// Comes back at the very instant that each refusal names, or a millisecond off.
fn chase(rule: Rule, off: i64) -> Vec<Step> {
    let round = [Check(1), Return(off), Check(1 + rule.limit / 3), Return(off), Check(rule.limit)];
    flood(rule).chain(round.iter().cycle().take(60).cloned()).collect()
}

/// Arrivals at even steps, `share` of the limit's rate in percent.
pub(super) fn uniform(rule: Rule, share: i64, arrivals: i64) -> Vec<Step> {
    let at = |n: i64| n * rule.window * 100 / (rule.limit * share);
    (0..arrivals).flat_map(|n| [Check(1), Wait(at(n + 1) - at(n))]).collect()
}

/// A sub-window apart, at each place a sub-bucket can begin, with what is left taken there.
fn sub_buckets(rule: Rule) -> Vec<Step> {
    let tenth = |n: i64| (n * rule.window + 9) / 10;
    let mut steps = Vec::new();
    for n in 0..36 {
        steps.extend([
            Check(1 + n % rule.limit),
            Check(1),
            Peek(1),
            Wait((tenth(n + 1) - tenth(n) - 1).max(0)),
        ]);
        steps.extend([Check(1), Wait(1)]);
    }
    steps
}

/// Everything that is mean to a tier.
pub(super) fn mean(rules: &[Rule]) -> Vec<Vec<Step>> {
    let mut histories = Vec::new();
    for rule in rules {
        let tenth = (rule.window + 9) / 10;
        for boundary in [rule.window, 2 * rule.window, tenth, rule.window + tenth, rule.window / 10] {
            histories.push(bursts_around(*rule, boundary.max(2)));
        }
        histories.extend([-1, 0, 1].map(|off| chase(*rule, off)));
        histories.extend([100, 150, 500].map(|share| uniform(*rule, share, 4 * rule.limit)));
        histories.push(sub_buckets(*rule));
    }
    let small = largest_cost(rules);
    for history in &mut histories {
        for step in history {
            if let Check(cost) = step {
                *cost = (*cost).min(small);
            }
        }
    }
    histories
}

/// One to three windows, each longer than the one before.
pub(super) fn tiers() -> impl Strategy<Value = Vec<Rule>> {
    let length = prop_oneof![Just(1), Just(7), Just(10), Just(99), Just(1000), 1..2000_i64];
    let window = (length, 1..25_i64, prop_oneof![Just(25), 1..25_i64]);
    vec(window, 1..4).prop_map(|mut windows| {
        windows.sort_unstable();
        windows.dedup_by_key(|(window, ..)| *window);
        let rule = |(window, limit, burst): (i64, i64, i64)| Rule { window, limit, burst: burst.min(limit) };
        windows.into_iter().map(rule).collect()
    })
}

/// The same windows without the bursts that only one mode knows.
pub(super) fn suited(mode: Mode, rules: &[Rule]) -> Vec<Rule> {
    let burst = |rule: &Rule| if mode == Mode::Gcra { rule.burst } else { rule.limit };
    rules.iter().map(|rule| Rule { burst: burst(rule), ..*rule }).collect()
}

fn largest_cost(rules: &[Rule]) -> i64 {
    rules.iter().map(|rule| rule.limit.min(rule.burst)).min().unwrap_or(1)
}

/// Random arrivals whose gaps and costs suit the tier.
pub(super) fn arrivals(rules: &[Rule]) -> impl Strategy<Value = Vec<Step>> + use<> {
    let small = largest_cost(rules);
    let windows: Vec<_> = rules.iter().map(|rule| rule.window).collect();
    let gap = proptest::sample::select(windows).prop_flat_map(|window| {
        prop_oneof![0..=window / 5 + 1, Just(window / 10), Just(window - 1), Just(window), 0..=window * 2]
    });
    let step = prop_oneof![
        6 => Just(Check(1)),
        3 => (1..=small).prop_map(Check),
        1 => (1..=small).prop_map(Peek),
        4 => gap.prop_map(Wait),
        1 => (-1..=1_i64).prop_map(Return),
    ];
    vec(step, 1..120)
}

/// Random arrivals of which some are settled later, with less or more than they took.
pub(super) fn settling(rules: &[Rule]) -> impl Strategy<Value = Vec<Step>> + use<> {
    let small = largest_cost(rules);
    let settles = vec((0..100_usize, 0..6_usize, prop_oneof![Just(0), 0..=small, 0..=small * 2]), 1..30);
    (arrivals(rules), settles).prop_map(|(steps, settles)| {
        insert(steps, settles.into_iter().map(|(place, back, actual)| (place, Settle(back, actual))))
    })
}

/// Random arrivals of a subject whose tier changes now and then.
pub(super) fn wandering(tiers: &[Vec<Rule>]) -> impl Strategy<Value = Vec<Step>> + use<> {
    let changes = vec((0..100_usize, 0..tiers.len()), 1..12);
    (arrivals(&tiers.concat()), changes).prop_map(|(steps, changes)| {
        insert(steps, changes.into_iter().map(|(place, tier)| (place, Tier(tier))))
    })
}

fn insert(mut steps: Vec<Step>, more: impl Iterator<Item = (usize, Step)>) -> Vec<Step> {
    for (place, step) in more {
        steps.insert(place % (steps.len() + 1), step);
    }
    steps
}

/// Random arrivals between which the server's clock jumps.
pub(super) fn jumping(rules: &[Rule], only_back: bool) -> impl Strategy<Value = Vec<Step>> + use<> {
    let widest = rules.iter().map(|rule| rule.window).max().unwrap_or(1);
    let forward = if only_back { 0 } else { 3 * widest };
    let jump = prop_oneof![-3 * widest..=forward, Just(-3_600_000), -1..=i64::from(!only_back)];
    let jumps = vec((0..100_usize, jump), 1..8);
    (arrivals(rules), jumps)
        .prop_map(|(steps, jumps)| insert(steps, jumps.into_iter().map(|(place, jump)| (place, Jump(jump)))))
}

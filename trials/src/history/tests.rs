//! The check finds what it is to find, and nothing else.

use super::*;
use crate::order::Outcome;

const BOUND_MS: u64 = 1_500;

fn ms(ms: u64) -> Moment {
    Moment(ms * 1_000_000)
}

fn call(began: u64, ended: u64, outcome: Outcome) -> Call {
    Call { began: ms(began), ended: ms(ended), outcome }
}

fn step(process: usize, act: Act, call: Call) -> Step {
    Step { process, id: "a".into(), act, call }
}

fn load(process: usize, began: u64, ended: u64) -> (usize, Load) {
    (process, Load { id: "a".into(), began: ms(began), ended: Some(ms(ended)) })
}

fn shows(version: u64) -> Outcome {
    Outcome::Value { version, pid: 1 }
}

/// Process 1 changes the id to version 2 from 10 to 20 ms.
fn history(change: Outcome) -> History {
    let of = |bound| Process { bound: Duration::from_millis(bound), budget: Duration::from_millis(50) };
    History {
        steps: vec![step(1, Act::Change(2), call(10, 20, change))],
        processes: vec![of(BOUND_MS), of(BOUND_MS), of(0)],
        ..History::default()
    }
}

/// Whether it is a violation that `process` reads version 1 from `began` on.
fn old_is_seen(mut history: History, process: usize, began: u64) -> bool {
    history.steps.push(step(process, Act::Read, call(began, began + 1, shows(1))));
    !history.violations().is_empty()
}

#[test]
fn what_is_older_than_the_bound_is_found() {
    assert!(!old_is_seen(history(Outcome::Everywhere), 0, 20 + BOUND_MS - 1));
    assert!(old_is_seen(history(Outcome::Everywhere), 0, 20 + BOUND_MS));
}

#[test]
fn the_process_that_changes_sees_its_change_at_once() {
    assert!(!old_is_seen(history(Outcome::Deferred), 1, 19));
    assert!(old_is_seen(history(Outcome::Deferred), 1, 20));
}

#[test]
fn a_process_without_memory_sees_a_change_at_once() {
    assert!(old_is_seen(history(Outcome::Everywhere), 2, 20));
}

#[test]
fn a_change_that_is_not_confirmed_binds_no_other_process() {
    assert!(!old_is_seen(history(Outcome::Deferred), 0, 60_000));
}

#[test]
fn who_cannot_ask_redis_may_serve_what_it_has() {
    let mut history = history(Outcome::Everywhere);
    history.outages.push(Outage { process: 0, began: ms(100), ended: ms(5_000) });
    assert!(!old_is_seen(history.clone(), 0, 4_000));
    assert!(old_is_seen(history, 0, 5_001));
}

#[test]
fn the_new_version_is_no_violation() {
    let mut history = history(Outcome::Everywhere);
    history.steps.push(step(0, Act::Load, call(9_000, 9_001, shows(2))));
    assert_eq!(history.violations(), []);
}

#[test]
fn two_loads_at_a_time_are_found_unless_the_first_was_overtaken() {
    let mut history = history(Outcome::Everywhere);
    history.loads = vec![load(0, 100, 200), load(1, 150, 250)];
    assert_eq!(history.violations().len(), 1);
    history.steps.push(step(2, Act::Expire, call(140, 145, Outcome::Everywhere)));
    assert_eq!(history.violations(), []);
}

#[test]
fn two_loads_while_one_process_has_no_redis_are_allowed() {
    let mut history = history(Outcome::Everywhere);
    history.loads = vec![load(0, 100, 200), load(1, 150, 250)];
    history.outages.push(Outage { process: 1, began: ms(120), ended: ms(180) });
    assert_eq!(history.violations(), []);
}

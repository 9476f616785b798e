use std::sync::Arc;

use super::*;
use crate::{
    clock::Manual,
    key::Name,
    limiter::{policy::Tier, quota::Usage, window::Window},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A tier's name, and the version of the tiers.
const FREE: (&str, u64) = ("free", 0);

fn tier(limit: u64) -> Arc<Tier> {
    let (policy, name) = (Name::new("api").unwrap(), Name::new("free").unwrap());
    Arc::new(Tier::new(policy, name, [Window::new(limit, MINUTE).unwrap()], 60_000))
}

fn refusal(tier: &Arc<Tier>, used: u64, wait: Duration) -> Decision {
    let usage = [Usage { used, rest: MINUTE }];
    Decision::Denied { quota: Quota::new(tier.clone(), usage.into(), 1), retry_after: wait }
}

fn denials() -> (Denials, Manual) {
    let (clock, time) = Clock::manual();
    (Denials::new(clock), time)
}

fn wait(decision: Option<Decision>) -> Option<Duration> {
    match decision? {
        Decision::Denied { retry_after, .. } => Some(retry_after),
        other => panic!("{other:?} is remembered"),
    }
}

#[test]
fn a_refusal_is_believed_until_its_instant() {
    let ((denials, time), tier) = (denials(), tier(10));
    let span = Duration::from_millis(300);
    denials.remember("a", FREE, 1, denials.ask("a"), &refusal(&tier, 10, span));
    time.advance(span - TICK - Duration::from_millis(1));
    assert_eq!(wait(denials.find("a", FREE, 1)), Some(TICK + Duration::from_millis(1)));
    time.advance(Duration::from_millis(1));
    assert!(denials.find("a", FREE, 1).is_none());
}

#[test]
fn no_refusal_is_believed_for_more_than_a_second_and_towards_its_end_one_caller_asks_again() {
    let ((denials, time), tier) = (denials(), tier(10));
    denials.remember("a", FREE, 1, denials.ask("a"), &refusal(&tier, 10, MINUTE));
    time.advance(LONGEST - ASKING - Duration::from_millis(1));
    assert_eq!(wait(denials.find("a", FREE, 1)), Some(MINUTE - Duration::from_millis(799)));
    time.advance(Duration::from_millis(1));
    assert!(denials.find("a", FREE, 1).is_none());
    assert!(denials.find("a", FREE, 1).is_some());
    time.advance(ASKING);
    assert!(denials.find("a", FREE, 1).is_none());
}

#[test]
fn only_the_same_cost_or_a_larger_one_of_the_same_tier_is_refused() {
    let ((denials, _time), tier) = (denials(), tier(10));
    denials.remember("a", FREE, 3, denials.ask("a"), &refusal(&tier, 8, Duration::from_secs(1)));
    assert!(denials.find("a", FREE, 2).is_none());
    assert!(denials.find("b", FREE, 3).is_none());
    assert!(denials.find("a", ("free", 1), 3).is_none(), "the tiers were replaced");
    assert!(denials.find("a", ("pro", 0), 3).is_none());
    assert!(denials.find("a", FREE, 11).is_none(), "it never fits");
    assert_eq!(wait(denials.find("a", FREE, 3)), Some(Duration::from_secs(1)));
    assert_eq!(wait(denials.find("a", FREE, 4)), Some(MINUTE), "until its window is empty");
}

#[test]
fn what_was_freed_while_the_store_was_asked_is_not_refused() {
    let ((denials, _time), tier) = (denials(), tier(10));
    for forget in [|denials: &Denials| denials.forget("a"), |denials: &Denials| denials.clear()] {
        let asked = denials.ask("a");
        forget(&denials);
        denials.remember("a", FREE, 1, asked, &refusal(&tier, 10, MINUTE));
        assert!(denials.find("a", FREE, 1).is_none());
    }
}

#[test]
fn what_was_freed_is_forgotten() {
    let ((denials, _time), tier) = (denials(), tier(10));
    for subject in ["a", "b"] {
        denials.remember(subject, FREE, 1, denials.ask(subject), &refusal(&tier, 10, MINUTE));
    }
    denials.forget("a");
    assert!(denials.find("a", FREE, 1).is_none());
    assert!(denials.find("b", FREE, 1).is_some());
    denials.clear();
    assert!(denials.find("b", FREE, 1).is_none());
}

#[test]
fn no_more_subjects_are_remembered_than_there_is_room_for() {
    let ((denials, _time), tier) = (denials(), tier(10));
    for subject in 0..2 * SUBJECTS {
        denials.remember(
            &subject.to_string(),
            FREE,
            1,
            denials.ask(&subject.to_string()),
            &refusal(&tier, 10, MINUTE),
        );
    }
    assert!(denials.refused.len() <= SUBJECTS);
}

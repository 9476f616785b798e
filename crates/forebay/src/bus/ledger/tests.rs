use std::time::Duration;

use super::*;
use crate::bus::{account::DOUBTS, message::Kind};

const OWN: u64 = 1;
const OTHER: u64 = 2;

fn at(millis: u64) -> Moment {
    Moment::default().after(Duration::from_millis(millis))
}

fn change(publisher: u64, number: u64) -> Message<'static> {
    Message::Change { publisher, number, kind: Kind::Gone, space: "s", id: "i", raised: None }
}

fn tally(through: u64, open: &[u64], skipped: &[u64]) -> Tally {
    Tally { through, open: open.to_vec(), skipped: skipped.to_vec() }
}

fn beat(publisher: u64, through: u64) -> Message<'static> {
    Message::Beat { publisher, tally: tally(through, &[], &[]), number: 0 }
}

/// A ledger that does not get deaf, with a publisher that has changed nothing yet.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new(OWN, at(1_000_000));
    assert_eq!(ledger.heard(at(0), &beat(OTHER, 0)), Heard::Fine);
    ledger
}

#[test]
fn a_publisher_first_heard_above_the_beginning_is_a_gap() {
    for (message, expected) in [
        (change(OTHER, 1), Heard::Fine),
        (change(OTHER, 2), Heard::Gap),
        (beat(OTHER, 0), Heard::Fine),
        (beat(OTHER, 1), Heard::Gap),
    ] {
        let mut ledger = Ledger::new(OWN, at(0));
        assert_eq!(ledger.heard(at(0), &message), expected, "{message}");
        assert_eq!(ledger.publishers(), 1);
    }
}

#[test]
fn what_was_in_flight_when_a_publisher_was_first_heard_is_waited_for() {
    let mut ledger = Ledger::new(OWN, at(1_000_000));
    let first = Message::Beat { publisher: OTHER, tally: tally(9, &[7], &[]), number: 0 };
    assert_eq!(ledger.heard(at(0), &first), Heard::Gap);
    assert_eq!(ledger.heard(at(500), &beat(OTHER, 9)), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), Some(Finding::Gap));
}

#[test]
fn a_change_that_comes_shortly_after_its_beat_is_no_gap() {
    let mut ledger = ledger();
    assert_eq!(ledger.heard(at(500), &beat(OTHER, 2)), Heard::Fine);
    assert_eq!(ledger.heard(at(700), &change(OTHER, 2)), Heard::Fine);
    assert_eq!(ledger.heard(at(700), &change(OTHER, 2)), Heard::Fine);
    assert_eq!(ledger.heard(at(900), &change(OTHER, 1)), Heard::Fine);
    assert_eq!(ledger.heard(at(910), &beat(OTHER, 2)), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), None);
}

#[test]
fn a_hole_is_a_gap_a_second_after_the_beat_before_it() {
    let mut ledger = ledger();
    assert_eq!(ledger.heard(at(600), &beat(OTHER, 1)), Heard::Fine);
    assert_eq!(ledger.next_check(), at(1000));
    assert_eq!(ledger.check(at(999)), None);
    assert_eq!(ledger.check(at(1000)), Some(Finding::Gap));
    assert_eq!(ledger.heard(at(1100), &beat(OTHER, 1)), Heard::Fine);
    assert_eq!(ledger.check(at(2000)), None);
    assert_eq!(ledger.gaps(), 1);
}

#[test]
fn a_skipped_or_open_number_is_not_waited_for() {
    let mut ledger = ledger();
    let counted = Message::Beat { publisher: OTHER, tally: tally(3, &[1], &[2, 3]), number: 0 };
    assert_eq!(ledger.heard(at(500), &counted), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), None);
    assert_eq!(ledger.heard(at(1000), &beat(OTHER, 3)), Heard::Fine);
    assert_eq!(ledger.check(at(1500)), Some(Finding::Gap));
}

#[test]
fn changes_do_not_break_the_silence_of_a_publisher() {
    let mut ledger = ledger();
    assert_eq!(ledger.heard(at(900), &change(OTHER, 1)), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), Some(Finding::Gap));
}

#[test]
fn a_silent_publisher_is_a_gap_every_second_until_it_is_held_dead() {
    let mut ledger = ledger();
    for second in 1..=u64::from(DOUBTS) {
        assert_eq!(ledger.next_check(), at(second * 1000));
        assert_eq!(ledger.check(at(second * 1000)), Some(Finding::Gap));
    }
    assert_eq!(ledger.publishers(), 0);
    assert_eq!(ledger.check(at(100_000)), None);
}

#[test]
fn a_farewell_is_no_gap_if_all_of_it_came() {
    let mut ledger = ledger();
    let bye = Message::Bye { publisher: OTHER, tally: tally(1, &[], &[]) };
    assert_eq!(ledger.heard(at(100), &bye), Heard::Fine);
    assert_eq!(ledger.publishers(), 0);
    assert_eq!(ledger.heard(at(200), &change(OTHER, 1)), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), None);
    assert_eq!(ledger.check(at(1100)), None);
    assert!(ledger.accounts.is_empty());
}

#[test]
fn a_farewell_that_counts_more_than_came_is_a_gap() {
    let mut ledger = ledger();
    let bye = Message::Bye { publisher: OTHER, tally: tally(1, &[], &[]) };
    assert_eq!(ledger.heard(at(100), &bye), Heard::Fine);
    assert_eq!(ledger.check(at(1000)), Some(Finding::Gap));
}

#[test]
fn too_many_holes_are_a_gap_and_the_next_beat_begins_anew() {
    let mut ledger = ledger();
    assert_eq!(ledger.heard(at(1), &change(OTHER, 4096)), Heard::Fine);
    assert_eq!(ledger.heard(at(1), &change(OTHER, u64::MAX)), Heard::Gap);
    assert_eq!(ledger.heard(at(2), &change(OTHER, u64::MAX)), Heard::Fine);
    assert_eq!(ledger.heard(at(500), &beat(OTHER, u64::MAX)), Heard::Gap);
    assert_eq!(ledger.heard(at(900), &beat(OTHER, u64::MAX)), Heard::Fine);
    assert_eq!(ledger.check(at(1500)), None);
}

#[test]
fn who_does_not_hear_himself_is_deaf_until_he_does() {
    let mut ledger = Ledger::new(OWN, at(0));
    assert_eq!(ledger.heard(at(500), &beat(OWN, 7)), Heard::Fine);
    assert_eq!(ledger.heard(at(900), &change(OWN, 9)), Heard::Fine);
    assert_eq!(ledger.check(at(1499)), None);
    assert_eq!(ledger.check(at(1500)), Some(Finding::Deaf));
    assert!(!ledger.hears());
    assert_eq!(ledger.check(at(9000)), None);
    assert_eq!(ledger.heard(at(9000), &beat(OWN, 9)), Heard::Gap);
    assert!(ledger.hears());
    assert_eq!(ledger.next_check(), at(10_000));
}

#[test]
fn a_full_ledger_forgets_the_publisher_silent_for_longest() {
    let mut ledger = Ledger::new(OWN, at(0));
    for publisher in 0..PUBLISHERS as u64 {
        assert_eq!(ledger.heard(at(publisher), &beat(OTHER + publisher, 0)), Heard::Fine);
    }
    assert_eq!(ledger.heard(at(20_000), &beat(OWN + 20_000, 0)), Heard::Gap);
    assert_eq!(ledger.publishers(), PUBLISHERS);
    assert!(!ledger.accounts.contains_key(&OTHER));
}

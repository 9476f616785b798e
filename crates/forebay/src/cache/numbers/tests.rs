//! What a process says of an entry by what it knows.

use super::*;
use crate::cache::Coherence;

fn numbers() -> Arc<Numbers> {
    Epochs::new(true).open(Coherence::Bus)
}

fn stamp(number: u64, tags: &[&str]) -> Stamp {
    Stamp { number, tags: tags.iter().map(|tag| Box::from(*tag)).collect() }
}

fn tag(name: &str) -> Group {
    Group::Tag(name.into())
}

fn learn(numbers: &Numbers, asked: Asked, now: u64, clear: u64, tags: &[(&str, Option<u64>)]) {
    let names: Vec<Box<str>> = tags.iter().map(|(name, _)| Box::from(*name)).collect();
    let known =
        Known { now: Some(now), clear: Some(clear), tags: tags.iter().map(|(_, number)| *number).collect() };
    numbers.learn(asked, &names, &known);
}

#[test]
fn nothing_is_known_until_it_was_asked_for() {
    let numbers = numbers();
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Current);
    assert_eq!(numbers.judge(&stamp(5, &["b"])), Judgement::Unknown);
    assert_eq!(numbers.judge(&stamp(4, &["a"])), Judgement::Passed);
    assert_eq!(numbers.judge(&stamp(2, &[])), Judgement::Passed);
}

#[test]
fn what_was_loaded_before_anything_was_known_is_passed_too() {
    let numbers = numbers();
    let alone = stamp(numbers.highest(), &["a"]);
    numbers.pass(&tag("a"));
    assert_eq!(numbers.judge(&alone), Judgement::Passed);
    assert!(!numbers.have_passed(&stamp(numbers.highest(), &["a"])));
}

#[test]
fn an_entry_above_the_known_number_of_the_space_is_asked_for() {
    let numbers = numbers();
    learn(&numbers, numbers.ask(), 5, 3, &[]);
    assert_eq!(numbers.judge(&stamp(6, &[])), Judgement::Unknown);
}

#[test]
fn a_number_that_is_missing_is_not_trusted_any_more() {
    let numbers = numbers();
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    learn(&numbers, numbers.ask(), 5, 3, &[("a", None)]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
}

#[test]
fn numbers_are_trusted_in_the_epoch_in_which_they_were_asked_for() {
    let numbers = numbers();
    let asked = numbers.ask();
    numbers.heard.missed();
    learn(&numbers, asked, 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Current);
    numbers.heard.set_hearing(false);
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
    // What has passed an entry stays passed.
    assert_eq!(numbers.judge(&stamp(4, &["a"])), Judgement::Passed);
}

#[test]
fn what_is_heard_while_the_store_is_asked_is_not_undone_by_the_answer() {
    let numbers = numbers();
    let asked = numbers.ask();
    numbers.raised(&tag("a"), 9);
    learn(&numbers, asked, 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Passed);
    assert_eq!(numbers.judge(&stamp(9, &["a"])), Judgement::Current);
}

#[test]
fn what_is_forgotten_while_the_store_is_asked_is_not_known_by_the_answer() {
    let numbers = numbers();
    let asked = numbers.ask();
    numbers.raised(&tag("a"), 9);
    numbers.forget_tags();
    learn(&numbers, asked, 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
}

#[test]
fn what_the_store_has_not_confirmed_is_invalidated_here_whatever_is_missed_or_forgotten() {
    let numbers = numbers();
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    let own = numbers.pass(&tag("a"));
    numbers.forget_tags();
    numbers.heard.missed();
    learn(&numbers, numbers.ask(), 5, 3, &[("a", Some(5))]);
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Passed);
    assert_eq!(numbers.pending(&tag("a")), own);
    numbers.confirm(&tag("a"), own, 20);
    numbers.forget_tags();
    assert_eq!(numbers.judge(&stamp(5, &["a"])), Judgement::Unknown);
}

#[test]
fn an_invalidation_that_is_confirmed_does_not_stand_for_a_later_one() {
    let numbers = numbers();
    let first = numbers.pass(&tag("a"));
    let second = numbers.pass(&tag("a"));
    numbers.confirm(&tag("a"), first, first);
    numbers.forget_tags();
    assert!(numbers.have_passed(&stamp(first, &["a"])));
    assert_eq!(numbers.pending(&tag("a")), second);
}

#[test]
fn clearing_moves_the_epoch_of_the_space_and_of_no_other() {
    let epochs = Epochs::new(true);
    let (cleared, other) = (epochs.open(Coherence::Bus), epochs.open(Coherence::Bus));
    let before = (cleared.epoch.now(), other.epoch.now());
    cleared.raised(&Group::Space, 7);
    assert_ne!(cleared.epoch.now(), before.0);
    assert_eq!(other.epoch.now(), before.1);
    let after = cleared.epoch.now();
    cleared.raised(&Group::Space, 7);
    assert_eq!(cleared.epoch.now(), after, "what is heard twice is one");
}

#[test]
fn the_tags_of_all_spaces_together_are_bounded() {
    let epochs = Epochs::new(true);
    let (one, other) = (epochs.open(Coherence::Bus), epochs.open(Coherence::Bus));
    for n in 0..60_000 {
        one.raised(&tag(&n.to_string()), 9);
        other.raised(&tag(&n.to_string()), 9);
    }
    let held = |numbers: &Numbers| numbers.state.lock().tags.len();
    assert!(held(&one) + held(&other) <= 100_000);
    assert!(other.have_passed(&stamp(8, &["59999"])));
}

//! The check finds each of what it looks for, and nothing else.

use super::{Caller, Fire, Stop};
use crate::{
    hold::{Held, Hold, Manner, Outcome, Stint},
    moment::Moment,
};

fn ms(at: u64) -> Moment {
    Moment(at * 1_000_000)
}

fn caller(process: usize, asked: u64, told: u64, outcome: Outcome) -> Caller {
    let order = Hold {
        name: "a".into(),
        manner: Manner::Guard,
        life_ms: 500,
        wait_ms: 1_000,
        work_ms: 10,
        polls: None,
    };
    Caller { process, order, held: Held { asked: ms(asked), told: ms(told), outcome } }
}

fn holder(process: usize, fence: u64, began: u64, ended: u64) -> Caller {
    let stint = Stint {
        fence,
        began: ms(began),
        ended: ms(ended),
        lost: false,
        writes: 1,
        refused: 0,
        revived: false,
        late_polls: 0,
    };
    caller(process, began - 10, began, Outcome::Had(stint))
}

fn fire(callers: impl Into<Vec<Caller>>) -> Fire {
    Fire { callers: callers.into(), ..Fire::default() }
}

fn found(fire: &Fire) -> [usize; 2] {
    [fire.wrong().len(), fire.late().len()]
}

#[test]
fn one_after_the_other_is_allowed() {
    let fire = fire([holder(0, 7, 100, 200), holder(1, 8, 200, 300), holder(0, 9, 301, 400)]);
    assert_eq!(found(&fire), [0, 0]);
}

#[test]
fn two_at_a_time_are_found_also_when_others_come_between() {
    let fire = fire([holder(0, 7, 100, 400), holder(1, 8, 390, 395), holder(2, 9, 396, 500)]);
    assert_eq!(found(&fire), [0, 2]);
}

#[test]
fn whoever_was_stopped_is_excused_until_it_goes_on() {
    let stop = Stop { process: 0, began: ms(150), ended: ms(900) };
    let told = |ended| Fire { stops: vec![stop], ..fire([holder(0, 7, 100, ended), holder(1, 8, 700, 800)]) };
    assert_eq!(found(&told(950)), [0, 0]);
    assert_eq!(found(&told(1_100)), [0, 1]);
    let elsewhere = Fire { stops: vec![Stop { process: 2, ..stop }], ..told(950) };
    assert_eq!(found(&elsewhere), [0, 1]);
}

#[test]
fn a_fence_that_does_not_grow_is_found() {
    assert_eq!(found(&fire([holder(0, 7, 100, 200), holder(1, 6, 300, 400)])), [1, 1]);
    assert_eq!(found(&fire([holder(0, 7, 100, 200), holder(1, 7, 300, 400)]))[0], 1);
}

#[test]
fn a_holder_who_is_refused_or_holds_again_what_it_has_lost_is_found() {
    let changed = |change: fn(&mut Stint)| {
        let mut fire = fire([holder(0, 7, 100, 200)]);
        let Outcome::Had(stint) = &mut fire.callers[0].held.outcome else { unreachable!("it is a holder") };
        change(stint);
        fire
    };
    assert_eq!(found(&changed(|stint| stint.refused = 1)), [1, 0]);
    assert_eq!(found(&changed(|stint| stint.revived = true)), [1, 0]);
}

#[test]
fn a_write_that_lands_late_and_a_key_that_is_left_are_found() {
    let fire = Fire { landed: vec![7, 7, 8, 7], left: vec!["lock".into()], ..Fire::default() };
    assert_eq!(found(&fire), [2, 0]);
}

#[test]
fn a_waiter_past_its_deadline_is_found() {
    assert_eq!(found(&fire([caller(0, 100, 1_500, Outcome::Busy)])), [0, 0]);
    assert_eq!(found(&fire([caller(0, 100, 1_700, Outcome::Busy)])), [0, 1]);
}

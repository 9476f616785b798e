//! The check finds what it is to find, and excuses what a promise leaves out, no more.

use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    chaos::{
        FORGETFUL, WAIT,
        fault::Fault,
        history::{Act, End, Process, Span, Step, Strike, Window},
    },
    order::{Call, Load, Outcome},
};

const BOUND: u64 = 1_500;

/// When whoever has a memory must have noticed by all means.
const LATE: u64 = 4_000;

fn ms(ms: u64) -> Moment {
    Moment(ms * 1_000_000)
}

/// Of four processes the last has no memory. Process 1 changes the id to version 2 from 1,010 to 1,020 ms.
fn history(change: Outcome) -> History {
    let process = |seat| Process {
        seat,
        bound: Duration::from_millis(if seat == FORGETFUL { 0 } else { BOUND }),
        passing: Duration::from_millis(BOUND),
        died: None,
    };
    let mut history = History { processes: (0..4).map(process).collect(), ..History::default() };
    history.told(1, Act::Change(2), 1_010, 1_020, change);
    history
}

impl History {
    fn told(&mut self, process: usize, act: Act, began: u64, ended: u64, outcome: Outcome) {
        let end = End::Told(Call { began: ms(began), ended: ms(ended), outcome });
        let name = if matches!(act, Act::Change(_)) { "invalidate" } else { "load" };
        self.steps.push(Step {
            process,
            id: "a".into(),
            others: Arc::default(),
            name,
            act,
            asked: ms(began),
            end,
        });
    }

    fn shows(&mut self, process: usize, began: u64, version: u64) {
        self.told(process, Act::Load, began, began + 1, Outcome::Value { version, pid: 1 });
    }

    /// Somebody asks, and loads from 5 ms later until he is answered.
    fn loads(&mut self, process: usize, began: u64, ended: u64) {
        self.told(process, Act::Load, began, ended, Outcome::Value { version: 9, pid: 1 });
        let load = Load { id: "a".into(), began: ms(began + 5), ended: Some(ms(ended)) };
        self.loads.push((process, load));
    }

    /// A fault that is felt until `well`, 100 ms after it was mended.
    fn feels(&mut self, fault: Fault, seat: usize, began: u64, well: u64) {
        let span = Span { began: ms(began), ended: ms(well) };
        self.strikes.push(Strike { fault, seat: Some(seat), span });
        self.windows.push(Window { fault, seat, ids: None, span, mended: ms(well - 100) });
    }
}

/// What is violated, and why something else is not.
fn findings(history: &History) -> (Vec<Promise>, Vec<&'static str>) {
    let verdict = Verdict::of(history);
    let violated = verdict.violations.iter().map(|violation| violation.promise).collect();
    (violated, verdict.excused.keys().map(|(_, why)| *why).collect())
}

fn is_fine(history: &History) -> bool {
    findings(history).0.is_empty()
}

/// Whether process `reader` may show version 1 at `began` after a change like this, once `more` has happened as well.
fn may_be_old(change: Outcome, reader: usize, began: u64, more: impl FnOnce(&mut History)) -> bool {
    let mut history = history(change);
    history.shows(reader, began, 1);
    more(&mut history);
    let (violated, _) = findings(&history);
    assert!(violated.iter().all(|promise| [Promise::NotStale, Promise::Bounded].contains(promise)));
    violated.is_empty()
}

fn nothing(_: &mut History) {}

#[test]
fn the_process_that_changes_sees_it_at_once() {
    for change in [Outcome::Everywhere, Outcome::Deferred] {
        assert!(may_be_old(change.clone(), 1, 1_019, nothing));
        assert!(!may_be_old(change, 1, 1_020, nothing));
    }
}

#[test]
fn a_process_without_memory_sees_a_change_at_once() {
    assert!(may_be_old(Outcome::Everywhere, FORGETFUL, 1_019, nothing));
    assert!(!may_be_old(Outcome::Everywhere, FORGETFUL, 1_020, nothing));
}

#[test]
fn another_process_sees_a_change_within_the_bound() {
    assert!(may_be_old(Outcome::Everywhere, 0, 1_020 + BOUND, nothing));
    assert!(!may_be_old(Outcome::Everywhere, 0, LATE, nothing));
}

#[test]
fn what_is_invalidated_by_a_tag_is_seen_at_once_by_who_does_it_and_within_the_bound_by_all_others() {
    let shown = |reader, began| {
        let mut history = history(Outcome::Everywhere);
        history.steps[0].act = Act::Pass(2);
        history.shows(reader, began, 1);
        findings(&history).0
    };
    assert_eq!(shown(1, 1_020), [Promise::NotStale]);
    for other in [0, FORGETFUL] {
        assert_eq!(shown(other, 1_020 + BOUND), []);
        assert_eq!(shown(other, LATE), [Promise::Bounded]);
    }
}

#[test]
fn the_new_version_is_no_violation() {
    let mut history = history(Outcome::Everywhere);
    history.shows(0, LATE, 2);
    history.shows(1, LATE, 3);
    assert!(is_fine(&history));
}

#[test]
fn a_change_that_is_not_confirmed_binds_the_others_once_it_is() {
    assert!(may_be_old(Outcome::Deferred, 0, 60_000, nothing));
    let confirmed = |at| move |history: &mut History| history.settled.push((1, ms(at)));
    assert!(!may_be_old(Outcome::Deferred, 0, 60_000, confirmed(30_000)));
    assert!(may_be_old(Outcome::Deferred, 0, 30_000 + BOUND, confirmed(30_000)));
    assert!(may_be_old(Outcome::Deferred, 0, 60_000, confirmed(1_015)), "it was asked for before");
}

#[test]
fn who_cannot_ask_redis_may_show_what_it_has() {
    let hole = |history: &mut History| history.feels(Fault::Hole, 0, 2_000, 5_000);
    assert!(may_be_old(Outcome::Everywhere, 0, LATE, hole));
    assert!(!may_be_old(Outcome::Everywhere, 0, 5_001, hole));
    assert!(!may_be_old(Outcome::Everywhere, 2, LATE, hole), "it was another process");
    let of_others = |history: &mut History| {
        hole(history);
        history.windows[0].ids = Some(vec!["b".into()]);
    };
    assert!(!may_be_old(Outcome::Everywhere, 0, LATE, of_others), "they were other ids");
}

#[test]
fn what_takes_nothing_excuses_nothing() {
    for fault in [Fault::LoseMessages, Fault::Deafen, Fault::Delay, Fault::Flush, Fault::Back, Fault::Skew] {
        let fault = |history: &mut History| history.feels(fault, 0, 500, 5_000);
        assert!(!may_be_old(Outcome::Everywhere, 0, LATE, fault));
    }
}

#[test]
fn the_first_tick_after_a_stop_may_come_late() {
    let stop = |history: &mut History| history.feels(Fault::Stop, 0, 2_000, 4_100);
    assert!(may_be_old(Outcome::Everywhere, 0, 4_001, stop));
    assert!(!may_be_old(Outcome::Everywhere, 0, 4_101, stop));
}

#[test]
fn what_a_replica_lacked_may_be_old_until_it_is_done_again() {
    let failover = |history: &mut History| history.feels(Fault::KillPrimary, 1, 1_030, 5_000);
    assert!(may_be_old(Outcome::Everywhere, FORGETFUL, 7_000, failover));
    assert!(!may_be_old(Outcome::Everywhere, FORGETFUL, 8_001, failover));
    let died = |history: &mut History| {
        failover(history);
        history.processes[1].died = Some(ms(4_000));
    };
    assert!(may_be_old(Outcome::Everywhere, FORGETFUL, 60_000, died));
    let long_before = |history: &mut History| history.feels(Fault::KillPrimary, 1, 3_500, 5_000);
    assert!(!may_be_old(Outcome::Everywhere, FORGETFUL, 5_000, long_before));
}

#[test]
fn who_was_not_told_of_another_primary_may_still_ask_the_old_one() {
    let reader_is_late = |history: &mut History| history.feels(Fault::Switch, FORGETFUL, 1_000, 2_000);
    assert!(may_be_old(Outcome::Everywhere, FORGETFUL, 3_499, reader_is_late));
    assert!(!may_be_old(Outcome::Everywhere, FORGETFUL, 3_501, reader_is_late));
}

/// What becomes of two loads at a time, once `more` has happened as well.
fn two_loads(more: impl FnOnce(&mut History)) -> (Vec<Promise>, Vec<&'static str>) {
    let mut history = history(Outcome::Everywhere);
    history.loads(0, 10_000, 10_100);
    history.loads(2, 10_050, 10_150);
    more(&mut history);
    findings(&history)
}

#[test]
fn two_loads_at_a_time_are_found() {
    assert_eq!(two_loads(nothing), (vec![Promise::OneLoad], vec![]));
}

#[test]
fn one_load_after_the_other_is_fine() {
    let mut history = history(Outcome::Everywhere);
    history.loads(0, 10_000, 10_100);
    history.loads(2, 10_101, 10_150);
    assert!(is_fine(&history));
}

#[test]
fn what_has_overtaken_a_load_makes_room_for_another() {
    for act in [Act::Expire, Act::Change(3)] {
        let found = two_loads(|history| history.told(1, act, 10_020, 10_030, Outcome::Everywhere));
        assert_eq!(found, (vec![], vec!["overtaken by a change"]));
    }
    let found = two_loads(|history| history.told(1, Act::Expire, 9_900, 9_999, Outcome::Everywhere));
    assert_eq!(found.0, [Promise::OneLoad], "it was over before the lease was asked for");
    let found = two_loads(|history| history.told(1, Act::Expire, 10_060, 10_070, Outcome::Everywhere));
    assert_eq!(found.0, [Promise::OneLoad], "it came after both had begun");
    let found = two_loads(|history| history.told(1, Act::Expire, 9_000, 9_001, Outcome::Deferred));
    assert_eq!(found.1, ["overtaken by a change"], "it may be done later");
}

#[test]
fn two_loads_are_excused_where_there_was_no_lease() {
    let felt = |fault, seat, from, to| two_loads(move |history| history.feels(fault, seat, from, to));
    for seat in [0, 2] {
        assert_eq!(felt(Fault::Hole, seat, 9_000, 10_052).1, ["Redis could not be asked"]);
        assert_eq!(felt(Fault::Stop, seat, 10_010, 10_060).1, ["the holder was stopped"]);
        assert_eq!(felt(Fault::Flush, seat, 10_010, 10_052).1, ["the server forgot, or was another one"]);
    }
    assert_eq!(felt(Fault::Hole, 0, 9_000, 9_900).0, [Promise::OneLoad], "that was before");
    assert_eq!(felt(Fault::Hole, 1, 9_000, 10_060).0, [Promise::OneLoad], "that was another process");
    assert_eq!(felt(Fault::ForgetScripts, 0, 9_000, 10_060).0, [Promise::OneLoad]);
}

#[test]
fn who_has_waited_long_enough_loads_for_itself() {
    let waits = u64::try_from(WAIT.as_millis()).unwrap();
    let mut history = history(Outcome::Everywhere);
    history.loads(0, 10_000 + waits, 10_100 + waits);
    history.loads(2, 10_050 + waits, 10_150 + waits);
    history.told(2, Act::Load, 10_000, 10_150 + waits, Outcome::Value { version: 9, pid: 1 });
    let (violated, excused) = findings(&history);
    assert!(!violated.contains(&Promise::OneLoad));
    assert_eq!(excused, ["the wait was over"]);
}

#[test]
fn an_error_of_nobodys_loader_is_found() {
    for outcome in [Outcome::Error("TimedOut".into()), Outcome::Failed, Outcome::FailedElsewhere] {
        let mut history = history(Outcome::Everywhere);
        history.told(0, Act::Load, 9_000, 9_001, outcome);
        assert_eq!(findings(&history).0, [Promise::Optional]);
    }
    let mut history = history(Outcome::Everywhere);
    history.told(0, Act::Load, 9_000, 9_001, Outcome::Error("Overloaded".into()));
    assert_eq!(findings(&history), (vec![], vec!["too many loads without Redis"]));
}

#[test]
fn a_failed_load_is_handed_on_for_a_while() {
    let mut history = history(Outcome::Everywhere);
    history.told(1, Act::LoadInVain, 9_000, 9_010, Outcome::Failed);
    history.told(0, Act::Load, 9_500, 9_501, Outcome::FailedElsewhere);
    assert!(is_fine(&history));
    history.told(0, Act::Load, 15_000, 15_001, Outcome::FailedElsewhere);
    assert_eq!(findings(&history).0, [Promise::Optional]);
}

/// A call of two seconds, of which no load took any.
fn slow(more: impl FnOnce(&mut History)) -> (Vec<Promise>, Vec<&'static str>) {
    let mut history = history(Outcome::Everywhere);
    history.told(0, Act::Load, 20_000, 22_000, Outcome::Value { version: 9, pid: 1 });
    more(&mut history);
    findings(&history)
}

#[test]
fn time_that_no_load_took_is_found() {
    assert_eq!(slow(nothing), (vec![Promise::Optional], vec![]));
    let load = |process, began, ended| {
        move |history: &mut History| {
            let load = Load { id: "a".into(), began: ms(began), ended: Some(ms(ended)) };
            history.loads.push((process, load));
        }
    };
    assert_eq!(slow(load(2, 20_010, 21_900)).0, []);
    assert_eq!(slow(load(2, 20_010, 20_900)).0, [Promise::Optional], "it was over by half");
    let of_another = |together: &'static [&str]| {
        move |history: &mut History| {
            let load = Load { id: "b".into(), began: ms(20_010), ended: Some(ms(21_900)) };
            history.loads.push((2, load));
            history.told(2, Act::Load, 21_800, 21_900, Outcome::Value { version: 9, pid: 1 });
            history.steps.last_mut().unwrap().id = "b".into();
            let slow = history.steps.iter_mut().find(|step| step.asked == ms(20_000)).unwrap();
            slow.others = together.iter().map(|&id| id.to_owned()).collect();
        }
    };
    assert_eq!(slow(of_another(&[])).0, [Promise::Optional], "nobody asked for it");
    assert_eq!(slow(of_another(&["a", "b"])).0, [], "both were asked for at once");
}

#[test]
fn who_was_stopped_or_starved_is_not_late() {
    assert_eq!(slow(|history| history.feels(Fault::Stop, 0, 20_000, 22_000)).0, []);
    let starved = |history: &mut History| history.starved.push(Span { began: ms(20_000), ended: ms(21_600) });
    assert_eq!(slow(starved), (vec![], vec!["the machine was busy"]));
}

#[test]
fn a_lease_of_somebody_in_trouble_may_be_waited_for() {
    let killed = |history: &mut History| {
        let end = End::Died(ms(20_100));
        history.steps.push(Step {
            process: 2,
            id: "a".into(),
            others: Arc::default(),
            name: "load",
            act: Act::Load,
            asked: ms(19_990),
            end,
        });
        history.feels(Fault::Kill, 2, 20_050, 21_000);
    };
    assert_eq!(slow(killed), (vec![], vec!["somebody in trouble had the lease"]));
    assert_eq!(slow(|history| history.feels(Fault::Kill, 2, 20_050, 21_000)).0, [Promise::Optional]);
}

#[test]
fn a_call_without_end_is_found() {
    let mut history = history(Outcome::Everywhere);
    let step = history.steps[0].clone();
    history.steps.push(Step { act: Act::Read, end: End::Hung(ms(41_000)), ..step.clone() });
    assert_eq!(findings(&history).0, [Promise::Ending]);
    history.steps.pop();
    history.steps.push(Step { act: Act::Read, end: End::Died(ms(41_000)), ..step });
    assert!(is_fine(&history), "its process had died");
    history.told(0, Act::Expire, 50_000, 52_001, Outcome::Deferred);
    assert_eq!(findings(&history).0, [Promise::Ending]);
}

#[test]
fn what_is_left_in_the_end_is_found() {
    let mut history = history(Outcome::Everywhere);
    history.left = vec![
        Left::ForEver("cache:a".into()),
        Left::Unwell("0".into()),
        Left::Tasks("0".into()),
        Left::Running("0".into()),
    ];
    let ending = Promise::Ending;
    assert_eq!(findings(&history).0, [Promise::Expiring, ending, ending, ending]);
}

#[test]
fn the_shortest_witness_names_the_faults_meanwhile() {
    let mut history = history(Outcome::Everywhere);
    history.shows(1, 9_000, 1);
    history.shows(1, 2_000, 1);
    history.feels(Fault::Delay, 3, 1_500, 1_900);
    history.feels(Fault::Cut, 3, 5_000, 5_900);
    let verdict = Verdict::of(&history);
    let shortest = verdict.shortest(Promise::NotStale).unwrap();
    assert_eq!(shortest.to, ms(2_001));
    let witness = history.witness(shortest);
    assert!(witness.contains("delay of seat 3") && !witness.contains("cut of seat 3"), "{witness}");
}

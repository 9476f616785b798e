//! Models of the tenure of a lock, run over many interleavings by the shuttle checker.
//!
//! A model that cannot turn red proves nothing: each names the change that turns it red.

use std::{sync::Arc, time::Duration};

use shuttle::{check_random, thread};

use super::tenure::Tenure;
use crate::clock::Moment;

const RUNS: usize = 5_000;

fn at(millis: u64) -> Moment {
    Moment::default().after(Duration::from_millis(millis))
}

/// A tenure that ends at 100 unless it is prolonged, in several hands.
fn check(model: impl Fn(Arc<Tenure>) + Send + Sync + 'static) {
    check_random(move || model(Arc::new(Tenure::new(at(100)))), RUNS);
}

/// Red when `is_over` looks at the deadline without taking note of what it has seen, or `prolong` looks and moves in two
/// steps.
#[test]
fn what_was_seen_to_be_over_is_never_revived() {
    check(|tenure| {
        let keeper = tenure.clone();
        let renewal = thread::spawn(move || keeper.prolong(at(99), at(200)));
        let seen = tenure.is_over(at(100));
        let again = tenure.is_over(at(100));
        let renewed = renewal.join().unwrap();
        assert!(again || !seen, "it was over, and is held again");
        assert_eq!(renewed, !seen, "the keeper and the holder disagree");
        assert_eq!(tenure.is_over(at(150)), seen);
    });
}

/// Red when `prolong` takes no notice of an end before the deadline, or `end` moves the deadline instead of ending.
#[test]
fn what_was_let_go_of_is_never_revived() {
    check(|tenure| {
        let keeper = tenure.clone();
        let renewals = thread::spawn(move || [150, 200].map(|until| keeper.prolong(at(50), at(until))));
        tenure.end();
        assert!(tenure.is_over(at(10)));
        let [first, second] = renewals.join().unwrap();
        assert!(first || !second, "a renewal succeeds after one that came too late");
        assert!(tenure.is_over(at(10)));
        assert!(!tenure.prolong(at(10), at(300)));
    });
}

/// Red when `prolong` sets the deadline of the later caller rather than the later deadline.
#[test]
fn renewals_that_cross_leave_the_later_deadline() {
    check(|tenure| {
        let keeper = tenure.clone();
        let late = thread::spawn(move || keeper.prolong(at(10), at(200)));
        assert!(tenure.prolong(at(10), at(150)));
        assert!(late.join().unwrap());
        assert_eq!(tenure.until(), at(200));
        assert!(!tenure.is_over(at(199)));
    });
}

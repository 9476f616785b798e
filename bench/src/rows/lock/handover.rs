//! The time from the release of one holder to the start of the next.

use std::sync::{Arc, Mutex};

use contest::{Holding, Lock};
use tally::table::Table;

use crate::stopwatch::Stopwatch;

/// The hand-overs of one lock.
#[derive(Debug, Clone, Default)]
pub(super) struct Handovers(Arc<Mutex<Took>>);

#[derive(Debug, Default)]
struct Took {
    released: Option<Stopwatch>,
    seconds: Vec<f64>,
}

impl Handovers {
    /// Waits for the lock.
    pub(super) async fn acquire(&self, lock: &dyn Lock, name: &str) -> Holding {
        let holding = lock.acquire(name.to_owned()).await;
        let mut took = self.0.lock().expect("nobody panics with it");
        let seconds = took.released.map(|released| released.elapsed().as_secs_f64());
        took.seconds.extend(seconds);
        holding
    }

    /// Lets the next one have it.
    pub(super) async fn release(&self, holding: Holding) {
        self.0.lock().expect("nobody panics with it").released = Some(Stopwatch::start());
        assert!(holding.release().await, "nobody else had the lock");
    }

    /// The seconds of each.
    pub(super) fn seconds(&self) -> Vec<f64> {
        self.0.lock().expect("nobody panics with it").seconds.clone()
    }
}

/// The time within which `share` of the hand-overs are over, in milliseconds.
pub(super) fn quantile(seconds: &[f64], share: f64) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted[rank.max(1) - 1] * 1_000.0
}

/// Promises of `name` that nobody waits long, by all of its hand-overs.
pub(super) fn bound(table: &mut Table, name: &str, handovers: &[f64]) {
    let milliseconds = quantile(handovers, 0.99);
    let promise = format!("{name}: 99 of 100 hand-overs of all rounds are over within 20 ms");
    table.bound(promise, milliseconds, milliseconds <= 20.0);
}

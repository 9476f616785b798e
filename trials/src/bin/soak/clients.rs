//! The clients: each does one random thing after the other, and counts what came of it.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use forebay_trials::{
    crew::Worker,
    order::{Call, Order, Origin, Outcome},
};
use futures::future::join_all;
use rand::RngExt;

use crate::{Soak, pause};

const CLIENTS: usize = 8;
const IDS: u32 = 300;
const STAMPEDE: usize = 200;

/// Larger than what travels with the others.
const LARGE: usize = 100_000;

/// What was done so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    calls: AtomicU64,
    loads: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) long_loads: AtomicU64,
    /// How often a lock was taken.
    pub(crate) laps: AtomicU64,
    /// Of how many loads of an id the end is known, for the ids that somebody asks about.
    by_id: Mutex<HashMap<String, u64>>,
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Counts {
    pub(crate) fn calls(&self, calls: &[Call]) {
        self.calls.fetch_add(calls.len() as u64, Relaxed);
        for call in calls {
            if let Outcome::Error(error) = &call.outcome {
                *lock(&self.errors).entry(error.clone()).or_default() += 1;
            }
        }
    }

    /// Takes note of what `worker` has loaded since the last time.
    pub(crate) async fn loads(&self, worker: &Worker) {
        for load in worker.loads().await.into_iter().filter(|load| load.ended.is_some()) {
            self.loads.fetch_add(1, Relaxed);
            if load.id.starts_with("long") {
                *lock(&self.by_id).entry(load.id).or_default() += 1;
            }
        }
    }

    pub(crate) fn take(&self, id: &str) -> u64 {
        lock(&self.by_id).remove(id).unwrap_or(0)
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        lock(&self.errors).iter().map(|(error, times)| format!("{times} callers saw {error}")).collect()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [&self.calls, &self.loads, &self.long_loads, &self.laps, &self.faults];
        let [calls, loads, long, laps, faults] = counts.map(|count| count.load(Relaxed));
        write!(
            f,
            "{calls} calls, {loads} loads, {long} of them longer than their lease, {laps} locks, \
             {faults} faults of Redis"
        )
    }
}

/// Plays until the soak is over.
pub(crate) async fn play(soak: &Soak) {
    let clients = soak.workers.iter().flat_map(|worker| (0..CLIENTS).map(move |_| client(soak, worker)));
    join_all(clients).await;
}

async fn client(soak: &Soak, worker: &Worker) {
    while !soak.is_over() {
        soak.counts.calls(&worker.calls(random()).await);
        let rest = rand::rng().random_range(0..20);
        pause(Duration::from_millis(rest)).await;
    }
}

fn random() -> Order {
    let mut dice = rand::rng();
    let id = format!("id-{}", dice.random_range(0..IDS));
    let ms = dice.random_range(0..20);
    match dice.random_range(0..100) {
        0..45 => Order::Load { id, callers: 1, origin: Origin::Row { ms } },
        45..50 => Order::Load { id, callers: STAMPEDE, origin: Origin::Row { ms } },
        50..53 => Order::Load {
            id: format!("large-{id}"),
            callers: 1,
            origin: Origin::Counter { ms, bytes: LARGE },
        },
        53..56 => Order::Load { id: format!("broken-{id}"), callers: 10, origin: Origin::Failure { ms } },
        56..80 => Order::Read(id),
        80..88 => Order::Invalidate(id),
        88..92 => Order::Expire(id),
        92..95 => Order::Put(id, 0),
        _ => Order::Load { id: "hot".into(), callers: STAMPEDE, origin: Origin::Row { ms } },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! A hot key that is loaded again and again, in four processes: one load for each of its lives, for which nobody waits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use forebay_rig::{Redis, unless_starved};
use forebay_trials::{
    crew::{self, Worker},
    order::{Call, Load, Order, Origin, Outcome, Refreshing, Setup},
};
use futures::future::join_all;
use tokio::runtime::Runtime;

const LIFE: Duration = Duration::from_secs(2);

/// The share by which lives vary.
const JITTER: f64 = 0.1;

/// How long a load takes.
const LOAD: Duration = Duration::from_millis(500);

/// How long a read may take that waits for no load.
const SOON: Duration = Duration::from_millis(50);

/// A read of each of four processes in four milliseconds is a thousand in a second.
const EVERY_MS: u64 = 4;
const CALLERS: u32 = 1_250;

/// Trials beside each other would starve each other's Redis.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn order(callers: u32) -> Order {
    let origin = Origin::Counter { ms: LOAD.as_millis().try_into().unwrap(), bytes: 0 };
    Order::Steadily { id: "hot".into(), callers, every_ms: EVERY_MS, origin }
}

/// Five seconds of reads: what was read, and what was loaded for it.
async fn read(refresh: Refreshing) -> (Vec<Call>, Vec<Load>) {
    let redis = Redis::start();
    let setup = Setup {
        redis: redis.url(),
        // A machine that is busy with something else may keep Redis from answering for longer than usual.
        budget_ms: Some(1_000),
        fresh_ms: Some(LIFE.as_millis().try_into().unwrap()),
        stale_ms: 60_000,
        refresh: Some(refresh),
        ..Setup::default()
    };
    let crew = crew::start(4, &setup).await;
    // For the first value everybody has to wait.
    crew[0].call(order(1)).await;
    let calls = join_all(crew.iter().map(|worker| worker.calls(order(CALLERS)))).await.concat();
    tokio::time::sleep(LOAD).await;
    let mut loads = join_all(crew.iter().map(Worker::loads)).await.concat();
    loads.sort_unstable_by_key(|load| load.began);
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
    (calls, loads)
}

/// One load follows the other, each before the life of what that brought is over by more than `late`, and none before
/// `early` of it is over.
fn one_load_for_each_life(loads: &[Load], early: Duration, late: Duration) -> Result<(), String> {
    for pair in loads.windows(2) {
        let [before, after] = pair else { unreachable!("windows of two") };
        let ended = before.ended.unwrap();
        assert!(after.began >= ended, "two loads at a time: {loads:?}");
        let gap = after.began.since(ended);
        assert!(gap >= early, "a load {gap:?} after the one before: {loads:?}");
        if gap > late {
            return Err(format!("a load {gap:?} after the one before"));
        }
    }
    Ok(())
}

async fn trial(refresh: Refreshing, early: Duration, late: Duration) -> Result<(), String> {
    let (calls, loads) = read(refresh).await;
    let values: BTreeSet<_> = calls.iter().map(|call| format!("{:?}", call.outcome)).collect();
    let mut took: Vec<Duration> = calls.iter().map(|call| call.ended.since(call.began)).collect();
    took.sort_unstable();
    let (slowest, reads) = (took[took.len() - 1], took.len());
    println!(
        "{refresh:?}: {reads} reads of {} values, {} loads; half of the reads took {:?}, 99 of 100 {:?}, none more than {slowest:?}",
        values.len(),
        loads.len(),
        took[reads / 2],
        took[reads * 99 / 100],
    );
    assert!(calls.iter().all(|call| matches!(call.outcome, Outcome::Value { .. })), "{values:?}");
    one_load_for_each_life(&loads, early, late)?;
    if loads.len() < 3 {
        return Err(format!("only {} loads", loads.len()));
    }
    // Every load had its life: the last may still have run when the last caller came.
    assert!(values.len() == loads.len() || values.len() + 1 == loads.len(), "{values:?}: {loads:?}");
    if slowest > SOON { Err(format!("a read took {slowest:?}")) } else { Ok(()) }
}

fn try_out(refresh: Refreshing, early: Duration, late: Duration) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    unless_starved(|| Runtime::new().unwrap().block_on(trial(refresh, early, late)));
}

/// The shortest and the longest fresh life.
fn lives() -> (Duration, Duration) {
    (LIFE.mul_f64(1.0 - JITTER), LIFE.mul_f64(1.0 + JITTER))
}

/// What the coarse clock, a way to Redis and back and a busy machine make of an instant.
const SLACK: Duration = Duration::from_millis(100);

#[test]
fn what_is_stale_is_loaded_once_for_each_life() {
    let (shortest, longest) = lives();
    try_out(Refreshing::Stale, shortest - SLACK, longest + SLACK);
}

#[test]
fn by_chance_a_value_is_loaded_once_for_each_life() {
    let (shortest, longest) = lives();
    try_out(Refreshing::Early(1.0), shortest / 2 - SLACK, longest + SLACK);
}

#[test]
fn ahead_of_its_end_a_value_is_loaded_once_for_each_life() {
    let (shortest, longest) = lives();
    try_out(Refreshing::Ahead(0.4), shortest.mul_f64(0.6) - SLACK, longest.mul_f64(0.6) + SLACK);
}

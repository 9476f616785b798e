//! A lock that is taken and freed tens of thousands of times: nothing is left of it.

use std::time::Duration;

use forebay_rig::Redis;
use forebay_trials::{crew, hold::Laps, order::Setup};
use tokio::time::sleep;

const LAPS: u64 = 20_000;

/// By then memory is what it will be.
const WARM: u64 = 5_000;

/// What a process may have more of afterwards, in KiB.
const FLAT: u64 = 2_048;

fn laps(times: u64) -> Laps {
    Laps { name: "plan:42".into(), life_ms: 100, times }
}

// L21: a connection for each of them, until there is no port left.
#[tokio::test]
async fn twenty_thousand_holdings_leave_nothing_but_the_last_fence() {
    let redis = Redis::start();
    let setup = Setup { redis: redis.url(), ..Setup::default() };
    let worker = crew::start(1, &setup).await.pop().expect("one was started");
    worker.laps(laps(WARM)).await;
    let (memory, tasks) = (worker.memory(), worker.report().await.tasks);
    let connected = redis.call(&["INFO", "stats"]);
    let lapped = worker.laps(laps(LAPS)).await;
    // A keeper ends a moment after its guard.
    sleep(Duration::from_millis(200)).await;
    let (after, report) = (worker.memory(), worker.report().await);
    println!("{lapped:?}; memory {memory} KiB, then {after}; tasks {tasks}, then {}", report.tasks);
    assert_eq!((lapped.had, lapped.disorder), (LAPS, 0));
    assert!(lapped.vain <= LAPS / 100, "{lapped:?}");
    assert!(after <= memory + FLAT, "memory {memory} KiB, then {after}");
    assert!(report.tasks <= tasks + 1, "{tasks} tasks, then {}", report.tasks);
    assert_eq!(redis.call(&["KEYS", "*plan*"]), "fence:trial:{plan:42}");
    assert!(redis.keys_without_expiry().is_empty());
    // Those of the questions of this test are all there are.
    assert!(connections(&redis.call(&["INFO", "stats"])) <= connections(&connected) + 10);
}

/// How many connections the server has ever taken.
fn connections(stats: &str) -> u64 {
    let count = stats.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    count.and_then(|count| count.trim().parse().ok()).expect("the server counts")
}

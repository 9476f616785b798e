//! Replicas take over and slots move under load: callers notice nothing.

use std::{sync::Arc, time::Duration};

use forebay_rig::{Replicated, timed, unless_starved};
use tokio::runtime::Runtime;

use crate::{
    callers::Callers,
    stage::{Stage, pass},
};

const BUDGET: Duration = Duration::from_millis(50);

/// How soon everything is in use again once the nodes agree.
const BACK: Duration = Duration::from_secs(2);

/// What a read may cost, which may ask two nodes that are about to change, and what a busy machine adds.
const MOST: Duration = Duration::from_millis(50 + 250);

/// The ids that the load changes, and one that it only reads.
const IDS: [&str; 4] = ["changing-0", "changing-1", "changing-2", "hot"];

async fn goes_unnoticed(strike: fn(&Replicated)) -> Result<(), String> {
    let cluster = Arc::new(Replicated::start());
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let callers = Callers::begin(&stage.cache);
    pass(Duration::from_millis(300)).await;
    let struck = cluster.clone();
    tokio::task::spawn_blocking(move || strike(&struck)).await.expect("the nodes do it");
    let (back, ()) = timed(async {
        stage.in_use().await;
        stage.settled().await;
    })
    .await;
    pass(Duration::from_millis(200)).await;
    let seen = callers.end().await;
    println!("settled after {back:?}: {seen}");
    seen.assert_unharmed();
    assert_eq!(cluster.keys_without_expiry(), Vec::<String>::new());
    if back <= BACK { seen.in_time(MOST) } else { Err(format!("in use after {back:?}")) }
}

fn alone<T>(trial: impl Future<Output = T>) -> T {
    Runtime::new().expect("a runtime can be had").block_on(trial)
}

#[test]
fn primaries_that_hand_over_are_left_and_no_caller_notices() {
    let strike = |cluster: &Replicated| (0..Replicated::PLACES).for_each(|place| cluster.fail_over(place));
    unless_starved(|| alone(goes_unnoticed(strike)));
}

#[test]
fn a_primary_that_is_killed_is_replaced_and_no_caller_notices() {
    unless_starved(|| alone(goes_unnoticed(|cluster| cluster.kill_primary(0))));
}

#[test]
fn slots_that_move_under_load_give_nobody_an_error_or_an_old_value() {
    let strike = |cluster: &Replicated| {
        for id in IDS.iter().cycle().take(3 * IDS.len()) {
            cluster.move_slot(cluster.slot(&format!("{{{id}}}")));
        }
    };
    unless_starved(|| alone(goes_unnoticed(strike)));
}

//! A counter whose node dies, or whose slot moves. It lies in the slot of the value whose id is its name.

use std::time::Duration;

use forebay::{ErrorKind, unique::Unique};
use forebay_rig::Cluster;

use crate::{
    moved::Move,
    stage::{Stage, does, ids_at, pass},
};

const BUDGET: Duration = Duration::from_secs(1);

fn record(unique: &Unique, ids: std::ops::Range<usize>) {
    ids.for_each(|id| unique.record(&id.to_string()));
}

/// As soon as there is an answer.
async fn week(unique: &Unique) -> u64 {
    for _ in 0..500 {
        if let Ok(count) = unique.count_days(7).await {
            return count.visitors;
        }
        pass(Duration::from_millis(20)).await;
    }
    panic!("nobody can be counted");
}

// B5: all days of a counter lie in one slot.
#[tokio::test]
async fn who_comes_while_the_node_is_dead_is_counted_once_it_is_back() {
    let cluster = Cluster::start();
    for node in cluster.nodes() {
        does(node, &["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let counters = [0, 1, 2].map(|at| stage.forebay.unique(&ids_at(&cluster, at, 1)[0]).build().unwrap());
    for unique in &counters {
        record(unique, 0..3);
        assert_eq!(week(unique).await, 3);
    }
    cluster.nodes()[2].kill();
    counters.iter().for_each(|unique| record(unique, 3..5));
    assert_eq!((week(&counters[0]).await, week(&counters[1]).await), (5, 5));
    assert_eq!(counters[2].count_days(7).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(counters[2].figures().pending, 2);
    cluster.nodes()[2].restart();
    cluster.settle();
    assert_eq!(week(&counters[2]).await, 2, "the node has come back empty");
    assert_eq!(cluster.keys_without_expiry(), Vec::<String>::new());
}

#[tokio::test]
async fn who_comes_while_the_slot_moves_is_counted() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let unique = stage.forebay.unique("a").build().unwrap();
    record(&unique, 0..3);
    let today = unique.today().await.unwrap().to;
    let slot = Move::of(&cluster, "a");
    slot.begin();
    record(&unique, 3..5);
    unique.flush().await.unwrap();
    let key = format!("uv:cluster:{{a}}:{today}");
    slot.carry(&key);
    record(&unique, 5..7);
    unique.flush().await.unwrap();
    assert_eq!(unique.today().await.unwrap().visitors, 7);
    slot.end();
    record(&unique, 7..9);
    assert_eq!(week(&unique).await, 9);
    assert!(slot.has_arrived(&key));
}

//! A cluster that is not there when a process starts.

use std::time::Duration;

use forebay::{
    cache::Invalidated,
    testing::{Flow, Proxy},
};
use forebay_rig::{Cluster, least, median, timed};

use crate::stage::{Stage, pass};

const BUDGET: Duration = Duration::from_millis(50);

/// A budget, and what a busy machine adds.
const MOST: Duration = Duration::from_millis(80);

/// By then it is known that nobody answers.
const LOOKED_FOR: Duration = Duration::from_millis(600);

/// A hole in the place of a cluster.
async fn hole() -> (Proxy, String) {
    let proxy = Proxy::start("127.0.0.1:1").await.unwrap();
    proxy.requests(Flow::Hold);
    let url = format!("redis+cluster://{}", proxy.addr());
    (proxy, url)
}

#[tokio::test]
async fn the_first_read_costs_no_more_than_the_budget() {
    let (_proxy, url) = hole().await;
    let took = least(MOST, async || {
        let stage = Stage::at(url.clone(), BUDGET).await;
        let (took, value) = timed(stage.read("a", "loaded")).await;
        assert_eq!(value, "loaded");
        took
    });
    let took = took.await;
    println!("the first read of an absent cluster: {took:?}");
    assert!(took < MOST, "{took:?}");
}

#[tokio::test]
async fn later_reads_cost_next_to_nothing() {
    let (_proxy, url) = hole().await;
    let stage = Stage::at(url, BUDGET).await;
    pass(LOOKED_FOR).await;
    let mut spans = Vec::new();
    for n in 0..50 {
        spans.push(timed(stage.read(&n.to_string(), "loaded")).await.0);
    }
    let median = median(spans);
    println!("later reads of an absent cluster: {median:?}");
    assert!(median < Duration::from_millis(5), "{median:?}");
}

#[tokio::test]
async fn what_is_invalidated_meanwhile_is_done_once_the_cluster_is_there() {
    let cluster = Cluster::start();
    let before = Stage::at(cluster.url(), Duration::from_secs(1)).await;
    before.in_use().await;
    before.put("a", "old").await;
    cluster.nodes().iter().for_each(forebay_rig::Redis::pause);
    let stage = Stage::at(cluster.url(), BUDGET).await;
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Deferred);
    assert_eq!(stage.status().deferred, 1);
    assert_eq!(stage.read("a", "new").await, "new");
    pass(LOOKED_FOR).await;
    assert_eq!(stage.status().deferred, 1);
    cluster.nodes().iter().for_each(forebay_rig::Redis::resume);
    stage.settled().await;
    assert_eq!(stage.read("a", "new").await, "new");
    assert_eq!(before.read("a", "new").await, "new");
}

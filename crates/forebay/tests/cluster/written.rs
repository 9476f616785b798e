//! Memory that is told of writes by every node of a cluster.

use std::{convert::Infallible, time::Duration};

use forebay::{
    cache::{Cache, Coherence, Read, Source},
    clock::Clock,
};
use forebay_rig::{Cluster, Redis};

use crate::stage::{Stage, does, ids_at, pass};

const PATIENCE: Duration = Duration::from_secs(10);

async fn source(cache: &Cache<String>, id: &str) -> Option<Source> {
    match cache.read(id).await {
        Read::Hit(entry) => Some(entry.source),
        Read::Absent | Read::Miss => None,
    }
}

/// Waits until `id` is answered from there.
async fn until_from(cache: &Cache<String>, id: &str, from: Option<Source>) {
    let reading = async {
        while source(cache, id).await != from {
            pass(Duration::from_millis(2)).await;
        }
    };
    let done = Clock::real().timeout(PATIENCE, reading).await;
    assert!(done.is_some(), "{id} is never answered from {from:?}");
}

/// The connections that `node` tells of writes.
fn told(node: &Redis) -> Vec<String> {
    let clients = node.call(&["CLIENT", "LIST"]);
    let told = clients.lines().filter(|client| client.contains(" flags=tB "));
    told.filter_map(|client| client.strip_prefix("id=")?.split(' ').next().map(str::to_owned)).collect()
}

#[tokio::test]
async fn what_another_program_deletes_at_any_node_is_noticed() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), Duration::from_secs(1)).await;
    let builder = stage.forebay.cache::<String>("tracked", Duration::from_secs(600));
    let cache = builder.coherence(Coherence::Tracking).build().unwrap();
    stage.in_use().await;
    for round in 0..2 {
        for (place, node) in cluster.nodes().iter().enumerate() {
            let id = &ids_at(&cluster, place, 1)[0];
            cache.get_or_load(id, async |_| Ok::<_, Infallible>("old".to_owned())).await.unwrap();
            until_from(&cache, id, Some(Source::Memory)).await;
            does(node, &["DEL", &format!("cache:cluster:tracked:v1:{{{id}}}")]);
            until_from(&cache, id, None).await;
            let [ours] = &*told(node) else {
                panic!("round {round}: one connection of node {place} is told")
            };
            does(node, &["CLIENT", "KILL", "ID", ours]);
        }
    }
    assert_eq!(cluster.keys_without_expiry(), Vec::<String>::new());
}

//! Many ids at once over a cluster: what each node is asked, and who loads what.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use forebay::cache::{Batching, Builder, Load, Put};
use forebay_rig::{Cluster, Redis};

use crate::stage::{Stage, pass, place};

/// What was loaded, call by call.
type Calls = Arc<Mutex<Vec<Vec<String>>>>;

fn builder(stage: &Stage) -> Builder<String> {
    stage.forebay.cache("lots", Duration::from_secs(600)).local_time_to_live(Duration::ZERO)
}

fn batching(stage: &Stage) -> (Batching<String, Infallible>, Calls) {
    let calls = Calls::default();
    let load = async |calls: Calls, loads: Vec<Load<String>>| {
        let mut ids: Vec<_> = loads.iter().map(|load| load.id().to_owned()).collect();
        ids.sort();
        let answers: HashMap<_, _> = ids.iter().map(|id| (id.clone(), format!("of {id}"))).collect();
        calls.lock().unwrap().push(ids);
        Ok(answers)
    };
    (builder(stage).batch_loader(calls.clone(), load).build().unwrap(), calls)
}

async fn store(other: &Stage, ids: &[String]) {
    let cache = builder(other).build().unwrap();
    for put in cache.put_many(ids.iter().map(|id| (id, format!("of {id}")))).await {
        assert_eq!(put.unwrap(), Put::Stored);
    }
}

/// The most reads of one node's sockets while a hundred ids are read that it and the others have, with all that the
/// process asks besides.
async fn reads_of_a_batch(cluster: &Cluster, cache: &Batching<String, Infallible>, ids: &[String]) -> u64 {
    let reads = || cluster.nodes().iter().map(Redis::reads).collect::<Vec<_>>();
    let before = reads();
    cluster.nodes().iter().for_each(Redis::pause);
    let (cache, asked) = (cache.clone(), ids.to_vec());
    let batch = tokio::spawn(async move { cache.get_many(asked).await });
    // What was sent by now is read at once.
    pass(Duration::from_millis(300)).await;
    cluster.nodes().iter().for_each(Redis::resume);
    for (id, answer) in batch.await.unwrap() {
        assert_eq!(*answer.unwrap().unwrap(), format!("of {id}"));
    }
    let spent = reads().into_iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>();
    println!("100 ids: {spent:?} reads at the nodes' sockets");
    spent.into_iter().max().unwrap_or(0)
}

#[tokio::test]
async fn a_batch_is_one_round_trip_to_each_node() {
    let cluster = Cluster::start();
    let budget = Duration::from_secs(2);
    let (stage, other) = (Stage::at(cluster.url(), budget).await, Stage::at(cluster.url(), budget).await);
    stage.in_use().await;
    other.in_use().await;
    let (ids, (cache, calls)) = ((0..100).map(|n| format!("id-{n}")).collect::<Vec<_>>(), batching(&stage));
    store(&other, &ids).await;
    let mut reads = u64::MAX;
    for _ in 0..5 {
        reads = reads.min(reads_of_a_batch(&cluster, &cache, &ids).await);
    }
    // Each node has about 33 of the ids. Beside the one question there are heartbeats, and those of this test.
    assert!(reads <= 8, "{reads}");
    assert_eq!(*calls.lock().unwrap(), Vec::<Vec<String>>::new());
}

#[tokio::test]
async fn what_no_node_has_is_loaded_by_one_call() {
    let cluster = Cluster::start();
    let budget = Duration::from_secs(1);
    let (stage, other) = (Stage::at(cluster.url(), budget).await, Stage::at(cluster.url(), budget).await);
    stage.in_use().await;
    other.in_use().await;
    let ids: Vec<_> = (0..100).map(|n| format!("id-{n:02}")).collect();
    let (cache, calls) = batching(&stage);
    store(&other, &ids[..50]).await;
    for (id, answer) in cache.get_many(&ids).await {
        assert_eq!(*answer.unwrap().unwrap(), format!("of {id}"));
    }
    assert_eq!(*calls.lock().unwrap(), [ids[50..].to_vec()]);
    let places = |ids: &[String]| ids.iter().map(|id| place(&cluster, id)).collect::<BTreeSet<_>>();
    assert_eq!((places(&ids[..50]).len(), places(&ids[50..]).len()), (3, 3));
}

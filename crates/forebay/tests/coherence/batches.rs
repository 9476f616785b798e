//! Many ids at once over a real server: what is sent for them, and what several processes load of them.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use forebay::{
    cache::{Batching, Builder, Filled, Load, Lookup, Refresh},
    testing::Flow,
};
use futures::future::join_all;

use crate::rig::{CLOCK, LIFE, Origin, Rig, done, eventually, held};

/// What a batch loader was asked for, call by call.
type Calls = Arc<Mutex<Vec<Vec<String>>>>;

fn batching(builder: Builder<String>) -> (Batching<String, Infallible>, Calls) {
    let calls = Calls::default();
    let load = async |calls: Calls, loads: Vec<Load<String>>| {
        let mut ids: Vec<_> = loads.iter().map(|load| load.id().to_owned()).collect();
        ids.sort();
        let answers: HashMap<_, _> = ids.iter().map(|id| (id.clone(), format!("of {id}"))).collect();
        calls.lock().unwrap().push(ids);
        Ok(answers)
    };
    (builder.batch_loader(calls.clone(), load).build().unwrap(), calls)
}

fn ids(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:03}")).collect()
}

#[tokio::test]
async fn a_batch_is_one_round_trip_and_one_call_for_what_nobody_has_or_loads() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (other, (cache, calls)) = (there.cache(), batching(here.builder()));
    let (stored, loaded, missing) = (ids("stored", 50), ids("loaded", 5), ids("missing", 45));
    for put in other.put_many(stored.iter().map(|id| (id, format!("of {id}")))).await {
        put.unwrap();
    }
    let mut leases = Vec::new();
    for id in &loaded {
        let Lookup::Lease(lease) = other.lookup(id, LIFE).lease(LIFE).await else { panic!("it is held") };
        leases.push(lease);
    }
    let all: Vec<_> = [stored, loaded, missing.clone()].concat();
    let (gets, reads) = (rig.redis.calls("get"), rig.redis.reads());
    here.proxy.replies(Flow::Hold);
    let batch = tokio::spawn(async move { (cache.get_many(all).await, cache) });
    // Every read has arrived before any was answered.
    eventually(|| rig.redis.calls("get") == gets + 100).await;
    let reads = rig.redis.reads() - reads;
    println!("100 ids: {reads} reads at the server's sockets");
    assert!(reads <= 20, "{reads}");
    here.proxy.replies(Flow::Pass);
    eventually(|| !calls.lock().unwrap().is_empty()).await;
    assert_eq!(*calls.lock().unwrap(), [missing]);
    for lease in leases {
        assert_eq!(lease.fill("theirs".to_owned()).await.unwrap(), Filled::Stored);
    }
    let (answers, _cache) = done(batch).await.unwrap();
    for (id, answer) in answers {
        let expected = if id.starts_with("loaded") { "theirs".to_owned() } else { format!("of {id}") };
        assert_eq!(*answer.unwrap().unwrap(), expected);
    }
    assert_eq!(calls.lock().unwrap().len(), 1);
}

// Of one who loads them one by one, so that not all can be under way.
#[tokio::test]
async fn what_is_stored_is_read_in_one_round_trip_however_it_is_loaded() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (stored, origin) = (ids("", 100), Origin::taking(1));
    for put in there.cache().put_many(stored.iter().map(|id| (id, format!("of {id}")))).await {
        put.unwrap();
    }
    let load = |origin: Origin, load: Load<String>| origin.answers(Ok("loaded"))(load);
    let cache = here.builder().loader(origin.clone(), load).build().unwrap();
    let all = [stored, ids("missing", 100)].concat();
    let gets = rig.redis.calls("get");
    here.proxy.replies(Flow::Hold);
    let batch = tokio::spawn(async move { (cache.get_many(all).await, cache) });
    eventually(|| rig.redis.calls("get") == gets + 200).await;
    here.proxy.replies(Flow::Pass);
    let (answers, cache) = done(batch).await.unwrap();
    for (id, answer) in answers {
        let expected = if id.starts_with("missing") { "loaded".to_owned() } else { format!("of {id}") };
        assert_eq!(*answer.unwrap(), expected);
    }
    assert_eq!((origin.calls(), cache.stats().store_hits), (100, 100));
    assert!(origin.most() <= 64, "{} loads at a time", origin.most());
}

#[tokio::test]
async fn two_processes_that_ask_for_the_same_ids_load_each_once() {
    let rig = Rig::new();
    let processes = rig.open::<2>().await;
    let caches: Vec<_> = processes.iter().map(|process| batching(process.builder())).collect();
    for round in 0..20 {
        let asked = ids(&format!("{round}-"), 50);
        for answers in done(join_all(caches.iter().map(|(cache, _)| cache.get_many(&asked)))).await {
            for (id, answer) in answers {
                assert_eq!(*answer.unwrap().unwrap(), format!("of {id}"));
            }
        }
    }
    let mut loaded: Vec<_> = caches.iter().flat_map(|(_, calls)| calls.lock().unwrap().concat()).collect();
    loaded.sort();
    let all = loaded.len();
    loaded.dedup();
    assert_eq!((all, loaded.len()), (1000, 1000));
}

#[tokio::test]
async fn puts_and_invalidates_of_several_ids_share_their_writes() {
    let rig = Rig::new();
    let [here] = rig.open().await;
    let (cache, ids) = (here.cache(), ids("", 100));
    let before = rig.redis.reads();
    for put in done(cache.put_many(ids.iter().map(|id| (id, id.clone())))).await {
        put.unwrap();
    }
    let put = rig.redis.reads() - before;
    done(cache.invalidate_many(&ids)).await;
    let invalidated = rig.redis.reads() - before - put;
    println!("100 puts: {put} reads at the server's sockets; 100 invalidates: {invalidated}");
    assert_eq!(held(&cache, "007").await, None);
    // Two scripts and a number to each put.
    assert!(put <= 60 && invalidated <= 20, "{put} {invalidated}");
}

// cachified #144, C29: a batch never ended when one of its keys went from stale to expired on the way.
#[tokio::test]
async fn ten_thousand_batches_at_the_end_of_their_lives_are_all_answered() {
    let rig = Rig::new();
    let [here] = rig.open().await;
    let life = Duration::from_millis(4);
    let builder = here.forebay.cache("case", life).local_time_to_live(Duration::ZERO);
    let (cache, calls) = batching(builder.stale_for(life).refresh(Refresh::Stale));
    let ids = ids("", 4);
    for run in 0..10_000 {
        for (id, answer) in done(cache.get_many(&ids)).await {
            assert_eq!(*answer.unwrap().unwrap(), format!("of {id}"));
        }
        // Whoever asks all the time finds hardly anything that has ended.
        if run % 20 == 0 {
            CLOCK.sleep(life + Duration::from_millis(run / 20 % 5)).await;
        }
    }
    let (stats, calls) = (cache.stats(), calls.lock().unwrap().len());
    println!("10,000 batches of 4 ids: {calls} calls, {stats:?}");
    // Each side of both edges was met.
    assert!(stats.store_hits > 1_000 && stats.stale_hits > 1_000 && stats.loaded > 100, "{stats:?}");
}

//! Invalidations by pattern, while other processes have what they concern, or load it.

use std::time::Duration;

use forebay::{
    cache::{Cache, Matched, Source},
    testing::{Flow, Proxy},
};

use crate::rig::{CLOCK, Origin, Rig, done, eventually, held, remember, served_for, source, value_key};

/// What is invalidated by `pattern` when all answer.
async fn forget(cache: &Cache<String>, pattern: &str) -> usize {
    match done(cache.invalidate_matching(pattern)).await.unwrap() {
        Matched::Done { invalidated, deferred: 0, complete: true } => invalidated,
        other => panic!("it is not done: {other:?}"),
    }
}

#[tokio::test]
async fn what_matches_is_gone_from_the_memory_of_every_process() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (own, other) = (here.cache(), there.cache());
    for id in ["p-1", "p-2", "q-1"] {
        remember(&other, id, "old").await;
        remember(&own, id, "old").await;
    }
    assert_eq!(forget(&own, "p-*").await, 2);
    let (began, bound) = (CLOCK.now(), there.status().staleness_bound);
    for id in ["p-1", "p-2"] {
        assert_eq!(held(&own, id).await, None);
        assert!(served_for(&other, id, "old", began).await <= bound);
    }
    assert_eq!([source(&own, "q-1").await, source(&other, "q-1").await], [Some(Source::Memory); 2]);
}

/// Has "a" loaded in one process, and stored while another looks for what matches: `hold` keeps the first page from
/// it, or it from the server.
async fn load_ends_during_a_scan(hold: impl Fn(&Proxy, Flow), scans: u64) {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (own, loads, origin) = (here.cache(), there.cache(), Origin::paused());
    let loading = origin.call(&loads, "a", Ok("old"));
    eventually(|| origin.calls() == 1).await;
    hold(&here.proxy, Flow::Hold);
    let forgetting = tokio::spawn(async move { forget(&own, "*").await });
    eventually(|| rig.redis.calls("scan") >= scans).await;
    CLOCK.sleep(Duration::from_millis(20)).await;
    origin.let_go();
    assert_eq!(*done(loading).await.unwrap().unwrap(), "old");
    eventually(|| rig.redis.call(&["EXISTS", &value_key("a")]) == "1").await;
    hold(&here.proxy, Flow::Pass);
    assert_eq!(done(forgetting).await.unwrap(), 1);
    assert_eq!(rig.redis.call(&["EXISTS", &value_key("a")]), "0");
    assert!(served_for(&loads, "a", "old", CLOCK.now()).await <= there.status().staleness_bound);
}

// C2: who had begun before is found by its lease, or by what it has stored by the time that values are looked for.
#[tokio::test]
async fn what_is_stored_while_leases_are_looked_for_is_found() {
    load_ends_during_a_scan(Proxy::replies, 1).await;
}

#[tokio::test]
async fn what_is_stored_before_leases_are_looked_for_is_found() {
    load_ends_during_a_scan(Proxy::requests, 0).await;
}

#[tokio::test]
async fn a_server_that_stops_answering_is_not_looked_through() {
    let rig = Rig::new();
    let [here] = rig.open().await;
    let cache = here.cache();
    cache.put("a", "A".to_owned()).await.unwrap();
    here.proxy.replies(Flow::Hold);
    let matched = done(cache.invalidate_matching("*")).await.unwrap();
    assert_eq!(matched, Matched::Done { invalidated: 0, deferred: 0, complete: false });
}

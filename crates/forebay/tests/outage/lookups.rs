//! Callers who load by themselves, while Redis is away: their leases are this process's alone.

use std::time::Duration;

use forebay::cache::{Cache, Filled, Lease, Lookup, Returned};

use crate::{
    stage::Stage,
    timing::{least, median, pass, timed},
};

const WAIT: Duration = Duration::from_secs(5);

/// A stage whose server is stopped and given up.
async fn without_redis() -> Stage {
    let stage = Stage::new().await;
    stage.redis.pause();
    stage.give_up().await;
    stage
}

async fn leased(cache: &Cache<String>, id: &str) -> Lease<String> {
    match cache.lookup(id, WAIT).await {
        Lookup::Lease(lease) => lease,
        other => panic!("no lease: {other:?}"),
    }
}

async fn hit(cache: &Cache<String>, id: &str) -> String {
    match cache.lookup(id, WAIT).await {
        Lookup::Hit(entry) => entry.value.to_string(),
        other => panic!("no hit: {other:?}"),
    }
}

/// How long the others wait after one of them has filled.
async fn one_fills_for_all(cache: &Cache<String>, id: &str) -> Duration {
    let lease = leased(cache, id).await;
    let look_up = async |cache: Cache<String>, id: String| hit(&cache, &id).await;
    let waiting: Vec<_> = (0..3).map(|_| tokio::spawn(look_up(cache.clone(), id.to_owned()))).collect();
    pass(Duration::from_millis(100)).await;
    assert_eq!(lease.fill("1".to_owned()).await.expect("it can be stored"), Filled::Deferred);
    let (took, values) = timed(futures::future::join_all(waiting)).await;
    assert!(values.into_iter().all(|value| value.expect("the look-up ends") == "1"));
    assert_eq!(hit(cache, id).await, "1");
    took
}

#[tokio::test]
async fn one_look_up_loads_and_the_others_get_its_value() {
    let stage = without_redis().await;
    let mut spans = Vec::new();
    for id in ["a", "b", "c"] {
        spans.push(one_fills_for_all(&stage.cache, id).await);
    }
    assert!(spans.iter().any(|took| *took < Duration::from_millis(100)), "the others waited {spans:?}");
}

/// The median cost of twenty look-ups at a server that was stopped this moment.
async fn cost_of_a_stop() -> Duration {
    let stage = Stage::new().await;
    stage.redis.pause();
    let ids: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let leases = ids.iter().map(|id| timed(leased(&stage.cache, id)));
    median(futures::future::join_all(leases).await.into_iter().map(|(took, _)| took).collect())
}

#[tokio::test]
async fn a_look_up_costs_a_stopped_server_one_budget() {
    let most = Duration::from_millis(80);
    let median = least(most, cost_of_a_stop).await;
    assert!(median < most, "median of 20: {median:?}");
}

#[tokio::test]
async fn what_is_filled_during_an_outage_is_never_written_to_redis() {
    let stage = without_redis().await;
    let lease = leased(&stage.cache, "a").await;
    assert_eq!(lease.fill("1".to_owned()).await.expect("it can be stored"), Filled::Deferred);
    stage.redis.resume();
    stage.in_use().await;
    pass(Duration::from_millis(300)).await;
    assert!(!stage.stores("a").await);
}

#[tokio::test]
async fn a_lease_of_an_outage_is_void_once_others_are_heard_again() {
    let stage = without_redis().await;
    let lease = leased(&stage.cache, "a").await;
    let token = leased(&stage.cache, "b").await.into_token();
    pass(Duration::from_secs(2)).await;
    assert!(!stage.status().hears);
    stage.redis.resume();
    stage.in_use().await;
    assert_eq!(lease.fill("1".to_owned()).await.expect("it can be stored"), Filled::Lost);
    let mut resumed = stage.cache.resume("b", token);
    assert_eq!(resumed.renew(Duration::from_secs(5)).await, Returned::Lost);
    assert_eq!(resumed.fill("1".to_owned()).await.expect("it can be stored"), Filled::Lost);
    assert!(!stage.stores("a").await && !stage.stores("b").await);
    assert_eq!(stage.read("a", "2").await, "2");
}

#[tokio::test]
async fn a_lease_of_an_outage_travels_as_a_token() {
    let stage = without_redis().await;
    let token = leased(&stage.cache, "a").await.into_token();
    let token = token.to_string().parse().expect("it is as it was handed out");
    let mut resumed = stage.cache.resume("a", token);
    assert_eq!(resumed.renew(Duration::from_secs(5)).await, Returned::Done);
    assert_eq!(resumed.fill("1".to_owned()).await.expect("it can be stored"), Filled::Deferred);
    assert_eq!(hit(&stage.cache, "a").await, "1");
}

#[tokio::test]
async fn a_lease_of_an_outage_that_is_given_back_goes_to_the_next() {
    let stage = without_redis().await;
    let lease = leased(&stage.cache, "a").await;
    let cache = stage.cache.clone();
    let next = tokio::spawn(async move { leased(&cache, "a").await });
    pass(Duration::from_millis(50)).await;
    drop(lease);
    let (took, next) = timed(next).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(next.expect("the look-up ends").release().await, Returned::Done);
}

#[tokio::test]
async fn an_invalidate_overtakes_a_lease_of_an_outage() {
    let stage = without_redis().await;
    let lease = leased(&stage.cache, "a").await;
    stage.cache.invalidate("a").await;
    assert_eq!(lease.fill("1".to_owned()).await.expect("it can be stored"), Filled::Lost);
    assert_eq!(stage.read("a", "2").await, "2");
}

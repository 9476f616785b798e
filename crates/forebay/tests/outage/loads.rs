//! Loads that an outage comes upon: those who wait for them go on.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::cache::Lookup;
use tokio::sync::Notify;

use crate::{
    stage::{Stage, read, status},
    timing::{least, pass, timed, until},
};

/// How long a caller goes on waiting for another process once the server is given up.
async fn left_waiting() -> Duration {
    let stage = Stage::new().await;
    let (_forebay, neighbour) = stage.neighbour().await;
    let Lookup::Lease(lease) = neighbour.lookup("a", Duration::ZERO).await else { panic!("no lease") };
    let cache = stage.cache.clone();
    let waiting = tokio::spawn(async move { read(&cache, "a", "2").await });
    // Its next look at the lease by itself is due at about 800 ms.
    pass(Duration::from_millis(380)).await;
    if waiting.is_finished() {
        // A look at the lease was not answered in time.
        return Duration::MAX;
    }
    stage.redis.pause();
    stage.give_up().await;
    let (took, value) = timed(waiting).await;
    assert_eq!(value.expect("the read ends"), "2");
    drop(lease);
    took
}

#[tokio::test]
async fn a_server_that_is_given_up_lets_go_who_waits_for_another_process() {
    let took = least(Duration::from_millis(150), left_waiting).await;
    assert!(took < Duration::from_millis(150), "it waited {took:?} after the server was given up");
    println!("a waiter went on {took:?} after the breaker opened");
}

/// How long a caller waits after the end of a load that a stop of the server came upon.
async fn waits_for_the_fill() -> Duration {
    let stage = Stage::new().await;
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let load = {
        let (begun, go) = (begun.clone(), go.clone());
        async move |_| {
            begun.notify_one();
            go.notified().await;
            Ok::<_, Infallible>("1".to_owned())
        }
    };
    let cache = stage.cache.clone();
    let leader =
        tokio::spawn(async move { cache.get_or_load("a", load).await.map(|value| value.to_string()) });
    begun.notified().await;
    stage.redis.pause();
    pass(Duration::from_millis(20)).await;
    go.notify_one();
    let (took, value) = timed(leader).await;
    assert_eq!(value.expect("the read ends").expect("no caller sees an error"), "1");
    assert_eq!(stage.read("a", "2").await, "1");
    took
}

#[tokio::test]
async fn what_a_loader_brings_during_an_outage_reaches_its_callers_at_once() {
    let took = least(Duration::from_millis(20), waits_for_the_fill).await;
    assert!(took < Duration::from_millis(20), "the caller waited {took:?} for the end of the load");
    println!("a caller had its value {took:?} after the load");
}

#[tokio::test]
async fn loads_during_an_outage_are_one_at_a_time_in_this_process() {
    let stage = Stage::new().await;
    stage.redis.pause();
    let reads = (0..50).map(|n| {
        let value = n.to_string();
        let load = async move |_| {
            pass(Duration::from_millis(100)).await;
            Ok::<_, Infallible>(value)
        };
        stage.cache.get_or_load("a", load)
    });
    let values: Vec<String> = futures::future::join_all(reads)
        .await
        .into_iter()
        .map(|value| value.expect("no caller sees an error").to_string())
        .collect();
    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
}

#[tokio::test]
async fn a_neighbour_hears_an_invalidation_again_after_an_outage() {
    let stage = Stage::new().await;
    let (forebay, neighbour) = stage.neighbour().await;
    stage.redis.kill();
    stage.given_up().await;
    stage.restart().await;
    stage.in_use().await;
    until(Duration::from_secs(3), || status(&forebay).usable && status(&forebay).hears)
        .await
        .expect("the neighbour is back");
    stage.read("a", "1").await;
    assert_eq!(read(&neighbour, "a", "2").await, "1");
    stage.cache.invalidate("a").await;
    pass(Duration::from_millis(100)).await;
    assert_eq!(read(&neighbour, "a", "3").await, "3");
}

//! Shutting down while Redis is away ends in time.

use std::time::Duration;

use crate::{
    stage::{Stage, read},
    timing::timed,
};

const BUDGET: Duration = Duration::from_millis(500);

/// What a busy machine may add.
const GRACE: Duration = Duration::from_millis(700);

#[tokio::test]
async fn shutting_down_while_the_server_is_stopped_ends_within_its_budget() {
    let stage = Stage::new().await;
    stage.redis.pause();
    let (took, _) = timed(stage.forebay.shutdown(BUDGET)).await;
    assert!(took <= BUDGET + GRACE, "{took:?}");
    println!("shut down in {took:?}");
}

#[tokio::test]
async fn shutting_down_with_changes_that_cannot_be_confirmed_ends_within_its_budget() {
    let stage = Stage::new().await;
    stage.redis.pause();
    stage.cache.invalidate("a").await;
    let (took, all) = timed(stage.forebay.shutdown(BUDGET)).await;
    assert!(took <= BUDGET + GRACE, "{took:?}");
    assert!(!all, "a change that was not confirmed counts as done");
    println!("shut down in {took:?}");
}

#[tokio::test]
async fn shutting_down_has_changes_confirmed_that_can_be() {
    let stage = Stage::new().await;
    stage.fill("a", "1").await;
    stage.redis.pause();
    stage.cache.invalidate("a").await;
    stage.redis.resume();
    let (took, _) = timed(stage.forebay.shutdown(Duration::from_secs(3))).await;
    assert!(!stage.stores("a").await, "the old value is there after a shutdown of {took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn reads_go_on_after_a_shutdown() {
    let stage = Stage::new().await;
    stage.read("a", "1").await;
    stage.forebay.shutdown(BUDGET).await;
    assert_eq!(read(&stage.cache, "a", "2").await, "1");
}

//! The server itself fails: stopped, killed, emptied, not there yet, or rid of its clients.

use std::time::Duration;

use forebay_rig::Redis;

use crate::{
    stage::Stage,
    timing::{least, median, pass, timed},
};

const A_WHILE: Duration = Duration::from_millis(1800);

async fn nothing() {}

#[tokio::test]
async fn a_server_that_is_stopped_and_goes_on_harms_no_caller() {
    let stage = Stage::new().await;
    stage.survives(async { stage.redis.pause() }, A_WHILE, async { stage.redis.resume() }).await;
}

#[tokio::test]
async fn a_server_that_is_killed_and_restarts_empty_harms_no_caller() {
    let stage = Stage::new().await;
    stage.survives(async { stage.redis.kill() }, A_WHILE, stage.restart()).await;
}

#[tokio::test]
async fn a_server_that_restarts_at_once_harms_no_caller() {
    let stage = Stage::new().await;
    stage.survives(stage.restart(), Duration::ZERO, nothing()).await;
}

#[tokio::test]
async fn a_server_that_is_absent_at_start_is_used_once_it_is_there() {
    let redis = Redis::start();
    redis.kill();
    let url = redis.url();
    let stage = Stage::at(redis, url).await;
    pass(Duration::from_millis(100)).await;
    assert_eq!(stage.journal.lines(), 1, "nobody is told that Redis is absent");
    stage.survives(nothing(), Duration::from_millis(300), stage.restart()).await;
    stage.fill("a", "1").await;
}

#[tokio::test]
async fn a_server_that_is_flushed_harms_no_caller() {
    let stage = Stage::new().await;
    let flush = async {
        for _ in 0..5 {
            stage.call(&["FLUSHALL"]).await;
            pass(Duration::from_millis(20)).await;
        }
    };
    stage.survives(flush, Duration::ZERO, nothing()).await;
    stage.fill("a", "1").await;
}

#[tokio::test]
async fn scripts_that_are_flushed_harm_no_caller() {
    let stage = Stage::new().await;
    let flush = async {
        for _ in 0..5 {
            stage.call(&["SCRIPT", "FLUSH"]).await;
            pass(Duration::from_millis(20)).await;
        }
    };
    stage.survives(flush, Duration::ZERO, nothing()).await;
    stage.fill("a", "1").await;
}

#[tokio::test]
async fn clients_that_are_killed_come_back() {
    let stage = Stage::new().await;
    let kill = async {
        for kind in ["normal", "pubsub", "normal"] {
            stage.call(&["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"]).await;
            pass(Duration::from_millis(50)).await;
        }
    };
    stage.survives(kill, Duration::ZERO, nothing()).await;
    stage.fill("a", "1").await;
}

#[tokio::test]
async fn a_key_in_memory_is_answered_as_before_while_the_server_is_stopped() {
    let stage = Stage::new().await;
    stage.read("a", "1").await;
    stage.redis.pause();
    for pause_ms in [0, 300, 2000] {
        pass(Duration::from_millis(pause_ms)).await;
        let took = least(Duration::from_millis(10), async || {
            let (took, value) = timed(stage.read("a", "2")).await;
            assert_eq!(value, "1");
            took
        });
        let took = took.await;
        assert!(took < Duration::from_millis(10), "after {pause_ms} ms more: {took:?}");
    }
    stage.redis.resume();
}

/// The median cost of twenty unknown keys at a server that was stopped this moment.
async fn cost_of_a_stop() -> Duration {
    let stage = Stage::new().await;
    stage.redis.pause();
    let ids: Vec<String> = (0..20).map(|n| format!("unknown-{n}")).collect();
    assert!(stage.status().usable);
    let reads = ids.iter().map(|id| timed(stage.read(id, "1")));
    let spans = futures::future::join_all(reads).await.into_iter().map(|(took, _)| took).collect();
    assert!(!stage.status().usable, "the breaker is closed after 20 failures");
    median(spans)
}

#[tokio::test]
async fn an_unknown_key_costs_one_budget_while_the_server_is_stopped() {
    let most = Duration::from_millis(80);
    let median = least(most, cost_of_a_stop).await;
    assert!(median < most, "median of 20: {median:?}");
    println!("median of 20 with the breaker closed: {median:?}");
}

#[tokio::test]
async fn an_unknown_key_costs_less_than_a_millisecond_once_the_server_is_given_up() {
    let stage = Stage::new().await;
    stage.redis.pause();
    stage.give_up().await;
    let mut spans = Vec::new();
    for n in 0..200 {
        let (took, _) = timed(stage.read(&format!("unknown-{n}"), "1")).await;
        spans.push(took);
        assert!(!stage.status().usable);
    }
    let median = median(spans);
    assert!(median < Duration::from_millis(1), "median of 200: {median:?}");
    println!("median of 200 with the breaker open: {median:?}");
}

#[tokio::test]
async fn a_stopped_server_is_given_up_though_nobody_asks() {
    let most = Duration::from_secs(2);
    let took = least(most, async || {
        let stage = Stage::new().await;
        stage.redis.pause();
        stage.given_up().await
    });
    let took = took.await;
    assert!(took < most, "given up after {took:?}");
    println!("given up after {took:?} though nobody asks");
}

#[tokio::test]
async fn what_is_loaded_during_an_outage_is_loaded_once() {
    let stage = Stage::new().await;
    stage.redis.pause();
    stage.give_up().await;
    pass(Duration::from_secs(2)).await;
    assert!(!stage.status().hears);
    stage.read("a", "1").await;
    assert_eq!(stage.read("a", "2").await, "1");
    stage.redis.resume();
    stage.in_use().await;
    assert!(!stage.stores("a").await, "what was loaded during an outage is written to Redis");
}

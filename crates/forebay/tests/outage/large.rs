//! Large values travel beside the others, and hold nobody up.

use std::{convert::Infallible, time::Duration};

use forebay::{
    cache::{Cache, Loaded},
    testing::Flow,
};

use crate::{
    stage::Stage,
    timing::{pass, timed},
};

const BYTES: usize = 300 << 10;

/// What compression makes no smaller.
fn large(seed: u32) -> String {
    let mut state = seed | 1;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'!' + u8::try_from(state >> 26).expect("six bits"))
    };
    (0..BYTES).map(|_| letter()).collect()
}

/// A space of large values, none of which stays in process memory.
fn space(stage: &Stage) -> Cache<String> {
    let cache = stage.forebay.cache::<String>("large", Duration::from_secs(600));
    cache.local_time_to_live(Duration::ZERO).build().expect("nothing to refuse")
}

async fn read(cache: &Cache<String>, id: &str, seed: u32) -> usize {
    let load = async move |_| Ok::<_, Infallible>(Loaded::new(large(seed)));
    cache.get_or_load(id, load).await.expect("no caller sees an error").len()
}

/// Has four values loaded, each until the server has it.
async fn fill(stage: &Stage, cache: &Cache<String>) {
    for seed in 0..4 {
        let key = format!("cache:outage:large:v1:{{{seed}}}");
        while stage.call(&["EXISTS", &key]).await == "0" {
            assert_eq!(read(cache, &seed.to_string(), seed).await, BYTES);
            pass(Duration::from_millis(20)).await;
        }
    }
}

async fn clients(stage: &Stage) -> usize {
    stage.call(&["CLIENT", "LIST", "TYPE", "normal"]).await.lines().count()
}

#[tokio::test]
async fn large_values_are_stored_and_read_on_a_connection_of_their_own() {
    let stage = Stage::new().await;
    let (cache, before) = (space(&stage), clients(&stage).await);
    fill(&stage, &cache).await;
    let loads = cache.stats().loads;
    assert_eq!(clients(&stage).await, before + 1);
    let stored = stage.call(&["STRLEN", "cache:outage:large:v1:{1}"]).await;
    assert!(stored.parse().is_ok_and(|bytes: usize| bytes > 128 << 10), "{stored}");
    for seed in 0..4 {
        assert_eq!(cache.get(seed.to_string()).await.map(|value| value.len()), Some(BYTES));
    }
    assert_eq!(cache.stats().loads, loads);
}

/// How many log lines tell of large values that take longer than others may.
async fn told_of_slow_ones() -> usize {
    let (stage, proxy) = Stage::behind_proxy().await;
    let cache = space(&stage);
    fill(&stage, &cache).await;
    proxy.replies(Flow::Hold);
    let slow = async {
        pass(Duration::from_millis(120)).await;
        proxy.replies(Flow::Pass);
    };
    let reads = (0..4).map(|seed| timed(cache.get(seed.to_string())));
    let (reads, ()) = futures::future::join(futures::future::join_all(reads), slow).await;
    for (took, value) in reads {
        assert!(value.is_some() && took >= Duration::from_millis(100), "a large value came after {took:?}");
    }
    pass(Duration::from_millis(100)).await;
    stage.journal.lines()
}

#[tokio::test]
async fn a_large_value_may_take_longer_and_does_not_have_the_server_given_up() {
    let mut lines = Vec::new();
    while lines.len() < 3 && !lines.contains(&0) {
        lines.push(told_of_slow_ones().await);
    }
    assert!(lines.contains(&0), "log lines: {lines:?}");
}

#[tokio::test]
async fn large_values_are_back_after_a_restart() {
    let stage = Stage::new().await;
    let cache = space(&stage);
    read(&cache, "a", 1).await;
    stage.redis.kill();
    stage.given_up().await;
    assert_eq!(read(&cache, "a", 1).await, BYTES);
    stage.restart().await;
    stage.in_use().await;
    fill(&stage, &cache).await;
}

//! Invalidations that are done a second time, as an origin's replicas may lag.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Cache, Invalidated, Loaded},
};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, fill, held, text};

/// By how much replicas may lag.
const LAG: Duration = SECOND.saturating_mul(10);

/// Caches over an origin with replicas: with process memory, and without.
fn with_and_without_memory(rig: &impl Rig) -> [Cache<String>; 2] {
    let again = |space: &str| rig.builder(space).invalidate_again_after(LAG);
    let without = again("case:store").local_time_to_live(Duration::ZERO);
    [again("case").build().unwrap(), without.build().unwrap()]
}

/// Has `value` loaded for "a" with the tag "red".
async fn fill_tagged(cache: &Cache<String>, value: &str) {
    let loaded = Loaded::new(value.to_owned()).tag("red");
    let got = cache.get_or_load("a", async |_| Ok::<_, String>(loaded)).await;
    assert_eq!(text(&got), value);
}

pub(crate) async fn what_a_lagging_replica_brought_is_gone_after_the_lag(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        fill(&cache, "a", "old").await;
        assert_eq!(cache.invalidate("a").await, Invalidated::Everywhere);
        // The replica has not heard of the change.
        fill(&cache, "a", "old").await;
        rig.pass(LAG - SECOND).await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("old"));
        rig.pass(SECOND).await;
        assert_eq!(held(&cache, "a").await, None);
        fill(&cache, "a", "new").await;
        rig.pass(2 * LAG).await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
    }
}

pub(crate) async fn tags_and_whole_spaces_are_invalidated_again_too(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        for group in ["red", "all"] {
            match group {
                "red" => cache.invalidate_tag("red").await,
                _ => cache.clear().await,
            };
            fill_tagged(&cache, "old").await;
            rig.pass(LAG - SECOND).await;
            assert_eq!(held(&cache, "a").await.as_deref(), Some("old"), "{group}");
            rig.pass(SECOND).await;
            assert_eq!(held(&cache, "a").await, None, "{group}");
        }
    }
}

pub(crate) async fn a_load_that_read_too_early_is_overtaken_while_it_runs(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        let origin = Origin::paused();
        cache.invalidate("a").await;
        let loading = call(&cache, "a", origin.gives("old"));
        while origin.calls() == 0 {
            rig.settle().await;
        }
        rig.pass(LAG).await;
        origin.let_go();
        assert_eq!(text(&at_once(&rig, loading).await), "old");
        rig.settle().await;
        assert_eq!(held(&cache, "a").await, None);
    }
}

pub(crate) async fn what_is_invalidated_often_is_so_again_after_each(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        cache.invalidate("a").await;
        rig.pass(LAG / 2).await;
        cache.invalidate("a").await;
        for _ in 0..2 {
            fill(&cache, "a", "old").await;
            rig.pass(LAG / 2).await;
            assert_eq!(held(&cache, "a").await, None);
        }
        fill(&cache, "a", "new").await;
        rig.pass(2 * LAG).await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
    }
}

pub(crate) async fn only_what_was_invalidated_is_so_again(rig: impl Rig) {
    let [cache, _] = with_and_without_memory(&rig);
    let once = rig.builder("case:once").build().unwrap();
    cache.put("put", "A".to_owned()).await.unwrap();
    cache.expire("expired").await;
    fill(&cache, "expired", "A").await;
    once.invalidate("once").await;
    fill(&once, "once", "A").await;
    cache.invalidate("other").await;
    rig.pass(2 * LAG).await;
    for (cache, id) in [(&cache, "put"), (&cache, "expired"), (&once, "once")] {
        assert_eq!(held(cache, id).await.as_deref(), Some("A"), "{id}");
    }
}

pub(crate) async fn what_waits_is_done_at_once_when_the_process_shuts_down(rig: impl Rig) {
    let [cache, _] = with_and_without_memory(&rig);
    cache.invalidate("a").await;
    fill(&cache, "a", "old").await;
    rig.settle().await;
    let forebay = rig.forebay().clone();
    let shutdown = tokio::spawn(async move { forebay.shutdown(LAG / 2).await });
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn a_lag_that_is_none_is_refused_by_name(rig: impl Rig) {
    for lag in [Duration::ZERO, Duration::from_micros(999)] {
        let error = rig.builder("case").invalidate_again_after(lag).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("invalidate_again_after"), "{error}");
    }
    rig.builder("case").invalidate_again_after(Duration::MAX).build().unwrap().invalidate("a").await;
    rig.pass(LIFE).await;
}

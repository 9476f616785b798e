//! Values that are loaded again before their fresh life is over: once so much of it is left, or by chance.

use std::time::Duration;

use forebay::cache::{Builder, Cache, Filled, Load, Loaded, Lookup, Refresh};
use futures::future::join_all;

use crate::rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, call, entry, held, same, text};

/// A space that loads again what has half of its life behind it.
fn ahead(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").refresh(Refresh::Ahead(0.5))
}

/// A space where chance always has it that what can be loaded again is.
fn chancy(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").refresh(Refresh::Early { beta: 1e12 })
}

/// A cache that remembers an "a" of which a little less than half the life is left.
async fn due(rig: &impl Rig, builder: Builder<String>) -> Cache<String> {
    let cache = builder.build().unwrap();
    cache.put("a", Loaded::new("old".to_owned()).validator("v1")).await.unwrap();
    assert_eq!(held(&cache, "a").await.as_deref(), Some("old"));
    rig.pass(LIFE / 2 + SECOND).await;
    cache
}

/// A space without process memory.
fn without_memory(builder: Builder<String>) -> Builder<String> {
    builder.local_time_to_live(Duration::ZERO)
}

/// Asserts that ten callers get the old value of `cache` while one load runs, and that it replaces that.
async fn is_replaced_behind_the_back(rig: &impl Rig, cache: &Cache<String>) {
    let origin = Origin::paused();
    for _ in 0..10 {
        let caller = call(cache, "a", origin.gives("new"));
        assert_eq!(text(&at_once(rig, caller).await), "old");
        rig.settle().await;
    }
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    rig.settle().await;
    let replaced = entry(cache, "a").await;
    assert!(*replaced.value == "new" && same(rig, replaced.fresh_for, LIFE), "{replaced:?}");
}

pub(crate) async fn what_memory_has_is_replaced_before_its_end(rig: impl Rig) {
    let cache = due(&rig, ahead(&rig)).await;
    is_replaced_behind_the_back(&rig, &cache).await;
    assert_eq!(cache.stats().stale_hits, 0);
}

pub(crate) async fn what_the_store_has_is_replaced_before_its_end(rig: impl Rig) {
    let cache = due(&rig, without_memory(ahead(&rig))).await;
    is_replaced_behind_the_back(&rig, &cache).await;
}

pub(crate) async fn nothing_is_replaced_before_its_time(rig: impl Rig) {
    let (cache, origin) = (ahead(&rig).build().unwrap(), Origin::ready());
    cache.put("a", "old".to_owned()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
        rig.settle().await;
        rig.pass(LIFE / 2 - SECOND).await;
    }
    assert_eq!(origin.calls(), 0);
}

// hitbox #214, C27: who found a value due loaded it beside others who had.
pub(crate) async fn ten_thousand_hits_of_what_is_due_make_one_refresh_and_wait_for_none(rig: impl Rig) {
    let (cache, origin) = (due(&rig, ahead(&rig)).await, Origin::paused());
    let callers: Vec<_> = (0..10_000).map(|_| call(&cache, "a", origin.gives("new"))).collect();
    for answer in at_once(&rig, tokio::spawn(join_all(callers))).await {
        assert_eq!(text(&answer.unwrap()), "old");
    }
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn by_chance_a_value_is_replaced_in_the_second_half_of_its_life(rig: impl Rig) {
    let (cache, slow) = (chancy(&rig).build().unwrap(), Origin::paused());
    let loaded = call(&cache, "a", slow.gives("old"));
    rig.pass(SECOND).await;
    slow.let_go();
    assert_eq!(text(&at_once(&rig, loaded).await), "old");
    let origin = Origin::ready();
    rig.pass(LIFE / 2 - SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    rig.settle().await;
    assert_eq!(origin.calls(), 0);
    rig.pass(SECOND * 2).await;
    is_replaced_behind_the_back(&rig, &cache).await;
}

pub(crate) async fn what_was_put_is_replaced_early_by_what_other_loads_take(rig: impl Rig) {
    let (cache, slow) = (chancy(&rig).build().unwrap(), Origin::paused());
    let other = call(&cache, "b", slow.gives("B"));
    rig.pass(SECOND).await;
    slow.let_go();
    at_once(&rig, other).await.unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    rig.pass(LIFE / 2 + SECOND).await;
    is_replaced_behind_the_back(&rig, &cache).await;
}

pub(crate) async fn an_early_refresh_that_fails_costs_nobody_the_value(rig: impl Rig) {
    let (cache, origin) = (due(&rig, ahead(&rig)).await, Origin::ready());
    for _ in 0..5 {
        assert_eq!(text(&cache.get_or_load("a", origin.fails("down")).await), "old");
        rig.settle().await;
    }
    assert_eq!(origin.calls(), 1);
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn past_its_end_what_was_not_replaced_is_stale(rig: impl Rig) {
    let cache = due(&rig, ahead(&rig).stale_for(LIFE)).await;
    rig.pass(LIFE / 2).await;
    assert!(entry(&cache, "a").await.is_stale());
    is_replaced_behind_the_back(&rig, &cache).await;
}

pub(crate) async fn who_only_reads_replaces_nothing(rig: impl Rig) {
    let cache = due(&rig, ahead(&rig)).await;
    for _ in 0..3 {
        assert_eq!(held(&cache, "a").await.as_deref(), Some("old"));
        rig.settle().await;
    }
    assert_eq!((cache.stats().loads, cache.stats().memory_hits), (0, 3));
}

pub(crate) async fn a_bound_loader_replaces_what_is_due(rig: impl Rig) {
    let origin = Origin::ready();
    let cache = ahead(&rig).loader(origin.clone(), async |origin, load: Load<String>| {
        origin.gives(&format!("{} again", load.stale().map_or("", |stale| stale.as_str())))(load).await
    });
    let cache = cache.build().unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    for expected in ["old", "old again"] {
        rig.pass(LIFE / 2 + SECOND).await;
        let answer: Answer = cache.get("a").await;
        assert_eq!(text(&answer), expected);
        rig.settle().await;
    }
    assert_eq!(origin.calls(), 2);
}

pub(crate) async fn one_look_up_gets_the_lease_early_and_with_it_the_value(rig: impl Rig) {
    for builder in [ahead(&rig), without_memory(rig.forebay().cache("other", LIFE).jitter(0.0))] {
        let cache = due(&rig, builder.refresh(Refresh::Ahead(0.5))).await;
        let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("nobody replaces it") };
        let value = lease.stale().expect("there is a value to go on with");
        assert!(*value.value == "old" && !value.is_stale() && value.validator.as_deref() == Some("v1"));
        for _ in 0..3 {
            let Lookup::Hit(other) = cache.lookup("a", SECOND).await else { panic!("there is a value") };
            assert_eq!((other.value.as_str(), other.is_stale()), ("old", false));
            rig.pass(SECOND / 5).await;
        }
        assert_eq!(lease.fill("new".to_owned()).await.unwrap(), Filled::Stored);
        assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
    }
}

pub(crate) async fn an_early_lease_that_is_dropped_goes_to_another(rig: impl Rig) {
    let cache = due(&rig, ahead(&rig)).await;
    for _ in 0..3 {
        let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("nobody replaces it") };
        drop(lease);
        rig.pass(SECOND).await;
    }
}

pub(crate) async fn an_invalidate_during_an_early_refresh_keeps_its_value_out(rig: impl Rig) {
    let (cache, origin) = (due(&rig, ahead(&rig)).await, Origin::paused());
    assert_eq!(text(&cache.get_or_load("a", origin.gives("late")).await), "old");
    rig.settle().await;
    cache.invalidate("a").await;
    origin.let_go();
    rig.settle().await;
    assert_eq!((origin.calls(), held(&cache, "a").await), (1, None));
}

pub(crate) async fn what_was_not_modified_has_another_life(rig: impl Rig) {
    let cache = due(&rig, ahead(&rig)).await;
    let unmodified = async |load: Load<String>| Ok::<_, String>(load.not_modified().unwrap());
    assert_eq!(*cache.get_or_load("a", unmodified).await.unwrap(), "old");
    rig.settle().await;
    let again = entry(&cache, "a").await;
    assert!(again.validator.as_deref() == Some("v1") && same(&rig, again.fresh_for, LIFE), "{again:?}");
}

pub(crate) async fn a_policy_that_makes_no_sense_is_refused_by_name(rig: impl Rig) {
    for beta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refusal = rig.builder("case").refresh(Refresh::Early { beta }).build().unwrap_err();
        assert!(refusal.to_string().contains("beta of refresh = early"), "{refusal}");
    }
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        let refusal = rig.builder("case").refresh(Refresh::Ahead(share)).build().unwrap_err();
        assert!(refusal.to_string().contains("share of refresh = ahead"), "{refusal}");
    }
}

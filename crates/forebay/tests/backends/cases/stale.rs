//! Values past their fresh life: fallback, refresh behind the caller's back, patience, "not modified".

use std::{sync::Arc, time::Duration};

use forebay::cache::{Abandoned, Builder, Cache, Load, Loaded, OriginBreaker, Read, Refresh};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, entry, fill, held, same, text};

const STALE: Duration = Duration::from_secs(600);

/// A space whose values are kept past their life.
fn keeping(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").stale_for(STALE)
}

/// A space that hands stale values out.
fn refreshing(rig: &impl Rig) -> Builder<String> {
    keeping(rig).refresh(Refresh::Stale)
}

/// A cache in which "a" is stale.
async fn stale(rig: &impl Rig, builder: Builder<String>) -> Cache<String> {
    let cache = builder.build().unwrap();
    cache.put("a", Loaded::new("old".to_owned()).validator("v1")).await.unwrap();
    rig.pass(LIFE).await;
    cache
}

pub(crate) async fn a_stale_value_is_loaded_in_front(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, keeping(&rig)).await, Origin::paused());
    let caller = call(&cache, "a", origin.gives("new"));
    rig.settle().await;
    assert!(!caller.is_finished());
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "new");
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn a_stale_value_stands_in_when_there_is_no_permit(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig).load_concurrency(1).wait(SECOND)).await;
    let busy = Origin::paused();
    let other = call(&cache, "b", busy.gives("B"));
    rig.settle().await;
    let caller = call(&cache, "a", Origin::ready().gives("new"));
    rig.pass(SECOND).await;
    assert_eq!(text(&at_once(&rig, caller).await), "old");
    other.abort();
}

pub(crate) async fn a_stale_value_stands_in_while_the_breaker_is_open(rig: impl Rig) {
    let rule = OriginBreaker { failures: 1, window: SECOND, pause: LIFE };
    let cache = stale(&rig, keeping(&rig).origin_breaker(rule)).await;
    let origin = Origin::ready();
    cache.get_or_load("b", origin.fails("down")).await.unwrap_err();
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_value_beyond_its_stale_life_is_gone(rig: impl Rig) {
    let cache = stale(&rig, refreshing(&rig)).await;
    rig.pass(STALE).await;
    assert!(matches!(cache.read("a").await, Read::Miss));
    assert!(cache.get_or_load("a", Origin::ready().fails("down")).await.is_err());
}

// C46, Q10: bentocache and rockscache end an entry whose grace is shorter than its life too early.
pub(crate) async fn a_short_stale_life_does_not_shorten_the_fresh_one(rig: impl Rig) {
    let cache = keeping(&rig).stale_for(SECOND).build().unwrap();
    fill(&cache, "a", "A").await;
    rig.pass(LIFE - SECOND / 2).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
    rig.pass(SECOND).await;
    assert_eq!(held(&cache, "a").await, None);
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().fails("down")).await), "A");
}

// C28: bentocache made callers wait for the lock of the refresh.
pub(crate) async fn a_refresh_under_way_makes_nobody_wait(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, refreshing(&rig)).await, Origin::paused());
    for _ in 0..10 {
        assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
        rig.settle().await;
    }
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    assert_eq!((origin.calls(), cache.stats().stale_hits), (1, 11));
}

// C50, Q10: neither the value nor its life changes, and the origin is asked once per note.
pub(crate) async fn a_failing_refresh_leaves_the_entry_as_it_is(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, refreshing(&rig)).await, Origin::ready());
    for refreshes in 1..=3 {
        for _ in 0..5 {
            assert_eq!(text(&cache.get_or_load("a", origin.fails("down")).await), "old");
            rig.settle().await;
        }
        assert_eq!(origin.calls(), refreshes);
        rig.pass(SECOND).await;
    }
    rig.pass(STALE - SECOND * 4).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("old"));
    rig.pass(SECOND).await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn after_a_failed_refresh_the_next_reader_tries_again(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, refreshing(&rig)).await, Origin::ready());
    assert_eq!(text(&cache.get_or_load("a", origin.fails("down")).await), "old");
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn a_refresh_that_hangs_makes_way_for_another(rig: impl Rig) {
    let cache = stale(&rig, refreshing(&rig).load_timeout(SECOND)).await;
    assert_eq!(text(&cache.get_or_load("a", Origin::paused().gives("late")).await), "old");
    rig.pass(SECOND * 2).await;
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("new")).await), "old");
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn patience_ends_with_the_stale_value_and_the_load_goes_on(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, keeping(&rig).patience(SECOND)).await, Origin::paused());
    let caller = call(&cache, "a", origin.gives("new"));
    rig.pass(SECOND / 2).await;
    let later = call(&cache, "a", origin.gives("newer"));
    rig.pass(SECOND / 2).await;
    assert!(!later.is_finished());
    assert_eq!(text(&at_once(&rig, caller).await), "old");
    rig.pass(SECOND / 2).await;
    assert_eq!(text(&at_once(&rig, later).await), "old");
    origin.let_go();
    rig.settle().await;
    assert_eq!((held(&cache, "a").await.as_deref(), origin.calls()), (Some("new"), 1));
}

// Otherwise a load that takes longer than the patience of its callers would begin again and again.
pub(crate) async fn patience_that_ends_is_no_abandonment(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig).patience(SECOND).abandoned(Abandoned::Cancel)).await;
    let origin = Origin::paused();
    let caller = call(&cache, "a", origin.gives("new"));
    rig.pass(SECOND).await;
    assert_eq!(text(&at_once(&rig, caller).await), "old");
    rig.settle().await;
    origin.let_go();
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn who_is_patient_enough_gets_the_new_value(rig: impl Rig) {
    let (cache, origin) = (stale(&rig, keeping(&rig).patience(SECOND)).await, Origin::paused());
    let caller = call(&cache, "a", origin.gives("new"));
    rig.pass(SECOND / 2).await;
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "new");
}

pub(crate) async fn patience_changes_nothing_without_a_stale_value(rig: impl Rig) {
    let cache = keeping(&rig).patience(SECOND).build().unwrap();
    let origin = Origin::paused();
    let caller = call(&cache, "a", origin.gives("new"));
    rig.pass(SECOND * 10).await;
    assert!(!caller.is_finished());
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "new");
}

pub(crate) async fn patience_also_ends_behind_somebody_elses_lease(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig).patience(SECOND)).await;
    let lease = cache.lookup("a", Duration::ZERO).await;
    let caller = call(&cache, "a", Origin::ready().gives("new"));
    rig.pass(SECOND).await;
    assert_eq!(text(&at_once(&rig, caller).await), "old");
    drop(lease);
}

pub(crate) async fn a_loader_is_given_the_stale_value_and_its_validator(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let seen = cache.get_or_load("a", async |load: Load<String>| {
        let stale = load.stale().map(|value| value.as_str());
        Ok::<_, String>(format!("{:?} {:?} {}", stale, load.validator(), load.id()))
    });
    assert_eq!(*seen.await.unwrap(), r#"Some("old") Some("v1") a"#);
}

pub(crate) async fn a_loader_behind_the_back_is_given_the_stale_value(rig: impl Rig) {
    let cache = stale(&rig, refreshing(&rig)).await;
    let refreshed =
        call(&cache, "a", async |load: Load<String>| Ok(load.validator().unwrap_or("nothing").to_owned()));
    assert_eq!(text(&at_once(&rig, refreshed).await), "old");
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("v1"));
}

pub(crate) async fn a_loader_is_given_nothing_where_nothing_is_stale(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    let seen = cache.get_or_load("a", async |load: Load<String>| {
        Ok::<_, String>(format!(
            "{:?} {:?} {}",
            load.stale(),
            load.validator(),
            load.not_modified().is_some()
        ))
    });
    assert_eq!(*seen.await.unwrap(), "None None false");
}

pub(crate) async fn a_value_that_was_not_modified_is_fresh_again(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let unmodified = async |load: Load<String>| Ok::<_, String>(load.not_modified().unwrap());
    assert_eq!(*cache.get_or_load("a", unmodified).await.unwrap(), "old");
    let again = entry(&cache, "a").await;
    assert!(again.validator.as_deref() == Some("v1") && same(&rig, again.fresh_for, LIFE), "{again:?}");
}

pub(crate) async fn reading_hands_no_stale_value_out_where_none_is_asked_for(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    assert!(matches!(cache.read("a").await, Read::Miss));
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn reading_hands_stale_values_out_where_they_are_wanted(rig: impl Rig) {
    let cache = stale(&rig, refreshing(&rig)).await;
    assert!(entry(&cache, "a").await.is_stale());
    assert_eq!(cache.get("a").await, Some(Arc::new("old".to_owned())));
    assert_eq!(cache.stats().stale_hits, 2);
}

pub(crate) async fn stale_values_are_not_asked_for_where_none_are_kept(rig: impl Rig) {
    let refresh = rig.builder("case").refresh(Refresh::Stale).build().unwrap_err();
    let patience = rig.builder("case").patience(SECOND).build().unwrap_err();
    for refusal in [refresh, patience] {
        assert!(refusal.to_string().contains("set stale_for"), "{refusal}");
    }
}

//! Ids that have no value: remembered as such, for a life of their own.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Abandoned, Builder, Cache, Filled, Lookup, Put, Read, Refresh},
};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, fill, held, text};

const ABSENT: Duration = Duration::from_secs(5);

/// A space that remembers absences.
fn remembering(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").absent_for(ABSENT)
}

/// What `find_or_load` answers, with an origin that has `value`.
async fn find(cache: &Cache<String>, origin: &Origin, value: Option<&str>) -> Option<String> {
    cache.find_or_load("a", origin.finds(value)).await.unwrap().map(|value| (*value).clone())
}

// C49: an absence is cacheable, and lives shorter than a value.
pub(crate) async fn an_absence_is_remembered_for_its_own_life(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).build().unwrap(), Origin::ready());
    for _ in 0..3 {
        assert_eq!(find(&cache, &origin, None).await, None);
    }
    assert_eq!(origin.calls(), 1);
    rig.pass(ABSENT).await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
    rig.pass(LIFE - SECOND).await;
    assert_eq!((find(&cache, &origin, None).await.as_deref(), origin.calls()), (Some("A"), 2));
}

pub(crate) async fn an_absence_is_remembered_in_the_store_too(rig: impl Rig) {
    let cache = remembering(&rig).local_time_to_live(Duration::ZERO).build().unwrap();
    let origin = Origin::ready();
    assert_eq!(find(&cache, &origin, None).await, None);
    assert_eq!(find(&cache, &origin, Some("A")).await, None);
    assert_eq!(origin.calls(), 1);
}

// C49: aiocache and cashews take one for the other.
pub(crate) async fn an_absence_is_no_miss(rig: impl Rig) {
    let cache = remembering(&rig).build().unwrap();
    assert!(matches!(cache.read("a").await, Read::Miss));
    find(&cache, &Origin::ready(), None).await;
    assert!(matches!(cache.read("a").await, Read::Absent));
    assert_eq!(held(&cache, "a").await, None);
    assert!(matches!(cache.lookup("a", Duration::ZERO).await, Lookup::Absent));
}

pub(crate) async fn an_error_is_no_absence(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).build().unwrap(), Origin::ready());
    let failed = origin.answers(Err::<Option<String>, _>("down"));
    assert!(cache.find_or_load("a", failed).await.is_err());
    assert!(matches!(cache.read("a").await, Read::Miss));
    rig.pass(SECOND).await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
}

// C24: a caller that leaves is not remembered as an absence.
pub(crate) async fn a_cancelled_search_is_no_absence(rig: impl Rig) {
    let cache = remembering(&rig).abandoned(Abandoned::Cancel).build().unwrap();
    let (searcher, paused) = (cache.clone(), Origin::paused());
    let search = tokio::spawn(async move { searcher.find_or_load("a", paused.finds(None)).await.is_ok() });
    rig.settle().await;
    search.abort();
    rig.settle().await;
    assert!(matches!(cache.read("a").await, Read::Miss));
    assert_eq!(find(&cache, &Origin::ready(), Some("A")).await.as_deref(), Some("A"));
}

pub(crate) async fn a_caller_that_needs_a_value_passes_over_an_absence(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).build().unwrap(), Origin::ready());
    find(&cache, &origin, None).await;
    fill(&cache, "a", "A").await;
    assert_eq!(find(&cache, &origin, None).await.as_deref(), Some("A"));
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_caller_that_needs_a_value_loads_it_when_a_search_finds_none(rig: impl Rig) {
    let (cache, search, origin) = (remembering(&rig).build().unwrap(), Origin::paused(), Origin::ready());
    let (searcher, none) = (cache.clone(), search.finds(None));
    let searcher = tokio::spawn(async move { searcher.find_or_load("a", none).await.unwrap() });
    rig.settle().await;
    let needing: Vec<_> = (0..10).map(|_| call(&cache, "a", origin.gives("A"))).collect();
    rig.settle().await;
    assert_eq!(origin.calls(), 0);
    search.let_go();
    assert_eq!(at_once(&rig, searcher).await, None);
    for caller in needing {
        assert_eq!(text(&at_once(&rig, caller).await), "A");
    }
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_caller_that_arrives_with_a_search_loads_when_that_finds_none(rig: impl Rig) {
    let (cache, search, origin) = (rig.cache(), Origin::paused(), Origin::ready());
    let (searcher, none) = (cache.clone(), search.finds(None));
    let searcher = tokio::spawn(async move { searcher.find_or_load("a", none).await.unwrap() });
    let needing = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    search.let_go();
    assert_eq!(text(&at_once(&rig, needing).await), "A");
    assert_eq!(at_once(&rig, searcher).await, None);
}

pub(crate) async fn an_absence_is_not_remembered_unless_asked_for(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    assert_eq!(find(&cache, &origin, None).await, None);
    assert!(matches!(cache.read("a").await, Read::Miss));
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
    assert_eq!(origin.calls(), 2);
}

/// What a failing load falls back on after `builder`'s cache had a stale value and a search found none.
async fn after_a_search(rig: &impl Rig, builder: Builder<String>) -> Option<String> {
    let cache = builder.stale_for(LIFE).build().unwrap();
    fill(&cache, "a", "old").await;
    rig.pass(LIFE).await;
    assert_eq!(find(&cache, &Origin::ready(), None).await, None);
    let fallback = cache.get_or_load("a", Origin::ready().fails("down")).await;
    fallback.ok().map(|value| (*value).clone())
}

pub(crate) async fn an_old_value_does_not_survive_an_absence(rig: impl Rig) {
    assert_eq!(after_a_search(&rig, rig.builder("case")).await, None);
    assert_eq!(after_a_search(&rig, rig.builder("case:absent").absent_for(ABSENT)).await, None);
}

pub(crate) async fn a_refresh_that_finds_nothing_ends_the_stale_value(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    fill(&cache, "a", "old").await;
    rig.pass(LIFE).await;
    assert_eq!(find(&cache, &Origin::ready(), None).await.as_deref(), Some("old"));
    rig.settle().await;
    assert!(matches!(cache.read("a").await, Read::Miss));
}

// What the origin has no more is not to be found in process memory either.
pub(crate) async fn a_fresh_value_does_not_survive_an_absence_found_past_it(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    let found = cache.fresh().find_or_load("a", Origin::ready().finds(None)).await.unwrap();
    assert_eq!(found, None);
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn an_absence_can_be_put(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).build().unwrap(), Origin::ready());
    fill(&cache, "a", "old").await;
    assert_eq!(cache.put_absent("a").await.unwrap(), Put::Stored);
    assert_eq!(find(&cache, &origin, Some("A")).await, None);
    rig.pass(ABSENT).await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
}

pub(crate) async fn an_absence_can_be_put_for_a_while(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    assert_eq!(cache.put_absent_for("a", SECOND).await.unwrap(), Put::Stored);
    assert_eq!(find(&cache, &origin, Some("A")).await, None);
    rig.pass(SECOND).await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
}

pub(crate) async fn an_absence_without_a_life_is_not_put(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "A").await;
    for refusal in [cache.put_absent("a").await, cache.put_absent_for("a", Duration::ZERO).await] {
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("absent_for"), "{refusal}");
    }
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

// C49: an absence has a name of its own, so values need none.
pub(crate) async fn values_that_may_be_none_are_refused(rig: impl Rig) {
    let refusal = rig.forebay().cache::<Option<u32>>("case", LIFE).build().unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains("find_or_load"), "{refusal}");
}

pub(crate) async fn an_invalidate_forgets_an_absence(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).build().unwrap(), Origin::ready());
    find(&cache, &origin, None).await;
    cache.invalidate("a").await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
}

pub(crate) async fn an_expire_forgets_an_absence(rig: impl Rig) {
    let (cache, origin) = (remembering(&rig).stale_for(LIFE).build().unwrap(), Origin::ready());
    find(&cache, &origin, None).await;
    cache.expire("a").await;
    assert_eq!(find(&cache, &origin, Some("A")).await.as_deref(), Some("A"));
}

pub(crate) async fn a_search_is_served_by_the_load_of_another(rig: impl Rig) {
    let (cache, load, search) = (rig.cache(), Origin::paused(), Origin::ready());
    let caller = call(&cache, "a", load.gives("A"));
    rig.settle().await;
    let (searcher, none) = (cache.clone(), search.finds(None));
    let searcher = tokio::spawn(async move { searcher.find_or_load("a", none).await.unwrap() });
    rig.settle().await;
    load.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "A");
    assert_eq!(at_once(&rig, searcher).await.as_deref().map(String::as_str), Some("A"));
    assert_eq!(search.calls(), 0);
}

pub(crate) async fn who_waits_behind_an_absence_gets_the_fill(rig: impl Rig) {
    let (cache, unused) = (remembering(&rig).build().unwrap(), Origin::ready());
    cache.put_absent("a").await.unwrap();
    let Lookup::Lease(lease) = cache.fresh().lookup("a", SECOND).await else { panic!("no lease") };
    let caller = call(&cache, "a", unused.gives("mine"));
    rig.settle().await;
    assert_eq!(lease.fill("theirs".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!((text(&at_once(&rig, caller).await), unused.calls()), ("theirs", 0));
}

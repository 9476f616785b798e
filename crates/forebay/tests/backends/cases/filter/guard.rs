//! A cache that is guarded by a filter.

use std::time::Duration;

use forebay::cache::{Cache, LoadError, Lookup, Read};

use super::{fill, filter};
use crate::rig::{LIFE, Origin, Rig, SECOND, call, held, text};

/// A cache whose filter knows `p-1`.
async fn guarded(rig: &impl Rig) -> Cache<String> {
    let known = filter(rig);
    fill(&known, &["p-1"]).await;
    rig.builder("case").absent_for(LIFE).guarded_by(&known).build().unwrap()
}

pub(crate) async fn an_id_that_cannot_exist_is_neither_loaded_nor_leased(rig: impl Rig) {
    let (cache, origin) = (guarded(&rig).await, Origin::ready());
    let loaded = cache.get_or_load("p-2", origin.gives("P")).await;
    assert!(matches!(loaded, Err(LoadError::Filtered)), "{loaded:?}");
    assert!(cache.find_or_load("p-2", origin.finds(Some("P"))).await.unwrap().is_none());
    let fresh = cache.fresh().get_or_load("p-2", origin.gives("P")).await;
    assert!(matches!(fresh, Err(LoadError::Filtered)), "{fresh:?}");
    assert!(cache.fresh().find_or_load("p-2", origin.finds(Some("P"))).await.unwrap().is_none());
    assert!(matches!(cache.lookup("p-2", SECOND).await, Lookup::Absent));
    assert!(matches!(cache.fresh().lookup("p-2", SECOND).await, Lookup::Absent));
    assert!(matches!(cache.read("p-2").await, Read::Absent));
    let stats = cache.stats();
    assert_eq!((origin.calls(), stats.loads, stats.filtered, stats.absences), (0, 0, 7, 0));
}

pub(crate) async fn an_id_that_cannot_exist_is_not_even_read(rig: impl Rig) {
    let known = filter(&rig);
    fill(&known, &[]).await;
    let unguarded = rig.builder("case").local_time_to_live(Duration::ZERO);
    let guarded = unguarded.guarded_by(&known).build().unwrap();
    guarded.put("p-2", "P".to_owned()).await.unwrap();
    assert_eq!(held(&guarded, "p-2").await, None);
    assert!(matches!(guarded.lookup("p-2", SECOND).await, Lookup::Absent));
    known.add("p-2").await.unwrap();
    assert_eq!(held(&guarded, "p-2").await.as_deref(), Some("P"));
}

pub(crate) async fn what_the_filter_may_know_is_loaded(rig: impl Rig) {
    let (cache, origin) = (guarded(&rig).await, Origin::ready());
    assert_eq!(text(&cache.get_or_load("p-1", origin.gives("P")).await), "P");
    assert_eq!(held(&cache, "p-1").await.as_deref(), Some("P"));
    assert_eq!((origin.calls(), cache.stats().filtered), (1, 0));
}

pub(crate) async fn an_absence_by_the_filter_is_not_remembered(rig: impl Rig) {
    let (cache, origin) = (guarded(&rig).await, Origin::ready());
    assert!(cache.find_or_load("p-2", origin.finds(Some("P"))).await.unwrap().is_none());
    filter(&rig).add("p-2").await.unwrap();
    let found = cache.find_or_load("p-2", origin.finds(Some("P"))).await.unwrap();
    assert_eq!(found.as_deref().map(String::as_str), Some("P"));
}

pub(crate) async fn a_guard_that_was_never_filled_keeps_nobody_out(rig: impl Rig) {
    let cache = rig.builder("case").guarded_by(&filter(&rig)).build().unwrap();
    assert_eq!(text(&cache.get_or_load("p-2", Origin::ready().gives("P")).await), "P");
    assert!(matches!(cache.lookup("p-3", SECOND).await, Lookup::Lease(_)));
    assert!(matches!(cache.read("p-4").await, Read::Miss));
}

pub(crate) async fn what_is_in_process_memory_needs_no_filter(rig: impl Rig) {
    let (cache, origin) = (guarded(&rig).await, Origin::ready());
    assert_eq!(text(&cache.get_or_load("p-1", origin.gives("P")).await), "P");
    assert_eq!(held(&cache, "p-1").await.as_deref(), Some("P"));
    fill(&filter(&rig), &[]).await;
    assert_eq!(text(&cache.get_or_load("p-1", origin.gives("new")).await), "P");
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_thousand_callers_ask_the_filter_once(rig: impl Rig) {
    let (cache, origin) = (guarded(&rig).await, Origin::paused());
    let callers: Vec<_> = (0..1_000).map(|_| call(&cache, "p-1", origin.gives("P"))).collect();
    rig.settle().await;
    // One more than there should be calls.
    origin.let_go();
    origin.let_go();
    for caller in callers {
        assert_eq!(text(&caller.await.unwrap()), "P");
    }
    assert_eq!(origin.calls(), 1);
    let callers: Vec<_> = (0..1_000).map(|_| call(&cache, "p-2", origin.gives("P"))).collect();
    for caller in callers {
        assert!(matches!(caller.await.unwrap(), Err(LoadError::Filtered)));
    }
    assert_eq!((origin.calls(), cache.stats().filtered), (1, 1_000));
}

pub(crate) async fn a_put_adds_nothing_to_the_filter(rig: impl Rig) {
    let cache = guarded(&rig).await;
    cache.put("p-2", "P".to_owned()).await.unwrap();
    assert!(filter(&rig).check("p-2").await.is_no());
}

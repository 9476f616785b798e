//! Reads that say where their answer came from.

use std::time::Duration;

use forebay::cache::{Cache, Entry, LoadError, Loaded, Source};
use tokio::task::JoinHandle;

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, fill, same};

const STALE: Duration = Duration::from_secs(600);

type Told = Result<Entry<String>, LoadError<String>>;

/// Starts a caller that has "a" loaded by `origin`, and wants to be told of it.
fn told(cache: &Cache<String>, origin: &Origin) -> JoinHandle<Told> {
    let (cache, loader) = (cache.clone(), origin.gives("A"));
    tokio::spawn(async move { cache.entry_or_load("a", loader).await })
}

/// A cache without process memory.
fn shared(rig: &impl Rig) -> Cache<String> {
    rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap()
}

pub(crate) async fn an_answer_tells_where_it_came_from(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let leader = told(&cache, &origin);
    rig.settle().await;
    let joiner = told(&cache, &origin);
    rig.settle().await;
    origin.let_go();
    let (leader, joiner) = (at_once(&rig, leader).await.unwrap(), at_once(&rig, joiner).await.unwrap());
    rig.settle().await;
    let later = at_once(&rig, told(&cache, &origin)).await.unwrap();
    let sources = [&leader, &joiner, &later].map(|entry| entry.source);
    assert_eq!(sources, [Source::Loaded, Source::Coalesced, Source::Memory]);
    for entry in [leader, joiner, later] {
        assert!(*entry.value == "A" && same(&rig, entry.fresh_for, LIFE), "{entry:?}");
    }
}

pub(crate) async fn an_answer_out_of_the_store_tells_so(rig: impl Rig) {
    let (cache, origin) = (shared(&rig), Origin::ready());
    fill(&cache, "a", "A").await;
    rig.settle().await;
    let entry = at_once(&rig, told(&cache, &origin)).await.unwrap();
    assert_eq!((entry.source, origin.calls()), (Source::Store, 0));
}

pub(crate) async fn a_search_tells_where_it_came_from_and_an_absence_is_none(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let found = cache.find_entry_or_load("a", origin.finds(Some("A"))).await.unwrap();
    assert_eq!(found.unwrap().source, Source::Loaded);
    rig.settle().await;
    let again = cache.find_entry_or_load("a", origin.finds(None)).await.unwrap();
    assert_eq!(again.unwrap().source, Source::Memory);
    assert!(cache.find_entry_or_load("b", origin.finds(None)).await.unwrap().is_none());
}

pub(crate) async fn an_answer_that_stands_in_for_a_failing_load_is_told_as_stale(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(STALE).build().unwrap();
    cache.put("a", Loaded::new("old".to_owned()).validator("v1")).await.unwrap();
    rig.pass(LIFE).await;
    let entry = cache.entry_or_load("a", Origin::ready().fails("down")).await.unwrap();
    assert!(entry.is_stale() && *entry.value == "old", "{entry:?}");
    assert_eq!((entry.source, entry.validator.as_deref()), (Source::Store, Some("v1")));
}

pub(crate) async fn an_answer_that_ends_patience_is_told_as_stale(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(STALE).patience(SECOND).build().unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    rig.pass(LIFE).await;
    let origin = Origin::paused();
    let caller = told(&cache, &origin);
    rig.pass(SECOND).await;
    let entry = at_once(&rig, caller).await.unwrap();
    assert!(entry.is_stale() && *entry.value == "old", "{entry:?}");
}

pub(crate) async fn what_is_told_is_what_is_counted(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    for _ in 0..3 {
        at_once(&rig, told(&cache, &origin)).await.unwrap();
        rig.settle().await;
    }
    let stats = cache.stats();
    assert_eq!((stats.loads, stats.memory_hits, stats.store_hits), (1, 2, 0));
}

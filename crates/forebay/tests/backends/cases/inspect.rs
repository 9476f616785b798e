//! What an operator is shown of one id.

use std::time::Duration;

use forebay::cache::{Cache, Found, InStore, Inspection, Loaded, Lookup, Standing, StoredEntry};

use crate::rig::{LIFE, Origin, Rig, SECOND, call, entry, held, same};

const STALE: Duration = Duration::from_secs(600);

fn keeping(rig: &impl Rig) -> Cache<String> {
    rig.builder("case").stale_for(STALE).absent_for(LIFE).build().unwrap()
}

async fn in_store(cache: &Cache<String>, id: &str) -> InStore<String> {
    cache.inspect(id).await.store.expect("the store can be asked")
}

async fn stored(cache: &Cache<String>, id: &str) -> StoredEntry<String> {
    match in_store(cache, id).await.entry {
        Found::Entry(entry) => entry,
        other => panic!("no entry: {other:?}"),
    }
}

pub(crate) async fn what_no_level_has_is_told(rig: impl Rig) {
    let Inspection { memory, store, is_under_way, .. } = rig.cache().inspect("{a} b").await;
    let store = store.unwrap();
    assert!(memory.is_none() && !is_under_way);
    assert!(matches!((store.entry, store.lease), (Found::Nothing, None)));
}

pub(crate) async fn a_value_is_told_with_what_is_stored_beside_it(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(STALE).compress_above(1_000).build().unwrap();
    let text = "red ".repeat(1_000);
    let value = Loaded::new(text.clone()).tag("brand:7").tag("a b").validator("v7");
    cache.put("shoe", value).await.unwrap();
    let told = stored(&cache, "shoe").await;
    assert_eq!(told.value.as_deref(), Some(&text));
    assert!(same(&rig, told.fresh_for, LIFE) && told.stale_for == STALE, "{told:?}");
    assert!(told.payload_bytes > text.len() && told.stored_bytes < 1_000 && told.is_compressed, "{told:?}");
    assert_eq!((told.validator.as_deref(), told.is_current), (Some("v7"), Some(true)));
    let tags: Vec<_> = told.tags.iter().map(|tag| (tag.tag.as_str(), tag.is_current)).collect();
    assert_eq!(tags, [("brand:7", Some(true)), ("a b", Some(true))]);
}

pub(crate) async fn what_process_memory_has_is_told_apart(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(SECOND * 10).build().unwrap();
    cache.put("a", "A".to_owned()).await.unwrap();
    assert!(cache.inspect("a").await.memory.is_none());
    let read = entry(&cache, "a").await;
    let memory = cache.inspect("a").await.memory.unwrap();
    assert!(memory.is_in_use && !memory.is_absence && memory.id == read.id, "{memory:?}");
    assert!(same(&rig, memory.used_for, SECOND * 10) && same(&rig, memory.fresh_for, LIFE), "{memory:?}");
    assert_eq!(stored(&cache, "a").await.id, read.id);
    rig.pass(SECOND * 11).await;
    assert!(cache.inspect("a").await.memory.is_none_or(|memory| !memory.is_in_use));
    assert!(stored(&cache, "a").await.fresh_for > LIFE - SECOND * 15);
}

pub(crate) async fn what_is_stale_or_absent_is_told(rig: impl Rig) {
    let cache = keeping(&rig);
    cache.put("a", "A".to_owned()).await.unwrap();
    cache.put_absent("b").await.unwrap();
    let absent = stored(&cache, "b").await;
    assert!(absent.value.is_none() && !absent.fresh_for.is_zero(), "{absent:?}");
    rig.pass(LIFE + SECOND).await;
    let stale = stored(&cache, "a").await;
    assert!(stale.fresh_for.is_zero() && stale.stale_for < STALE && stale.value.is_some(), "{stale:?}");
}

pub(crate) async fn what_was_invalidated_by_a_tag_is_told(rig: impl Rig) {
    let cache = rig.cache();
    cache.put("shoe", Loaded::new("red".to_owned()).tags(["brand:7", "colour"])).await.unwrap();
    let _ = cache.invalidate_tag("colour").await;
    let told = stored(&cache, "shoe").await;
    assert_eq!(told.is_current, Some(false));
    assert_eq!(told.tags.iter().map(|tag| tag.is_current).collect::<Vec<_>>(), [Some(true), Some(false)]);
    assert_eq!(held(&cache, "shoe").await, None);
}

pub(crate) async fn who_loads_is_told_without_the_means_to_act_for_it(rig: impl Rig) {
    let cache = rig.cache();
    let Lookup::Lease(lease) = cache.lookup("a", Duration::ZERO).lease(SECOND * 5).await else {
        panic!("nobody loads")
    };
    let token = lease.into_token().to_string();
    let Some(Standing::Held { holder, left, .. }) = in_store(&cache, "a").await.lease else {
        panic!("somebody loads")
    };
    assert_eq!(holder, token[..8]);
    assert!(same(&rig, left, SECOND * 5), "{left:?}");
    let lease = cache.resume("a", token.parse().unwrap());
    assert_eq!(lease.fail().await, forebay::cache::Returned::Done);
    let failed = in_store(&cache, "a").await.lease;
    assert!(matches!(failed, Some(Standing::Failed(left)) if !left.is_zero()), "{failed:?}");
}

pub(crate) async fn a_load_of_this_process_is_under_way(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let loading = call(&cache, "a", origin.gives("A"));
    while origin.calls() == 0 {
        rig.settle().await;
    }
    let told = cache.inspect("a").await;
    assert!(told.is_under_way);
    assert!(matches!(told.store.unwrap().lease, Some(Standing::Held { .. })));
    origin.let_go();
    loading.await.unwrap().unwrap();
}

pub(crate) async fn a_look_changes_nothing_and_counts_as_no_read(rig: impl Rig) {
    let cache = keeping(&rig);
    cache.put("a", Loaded::new("A".to_owned()).tag("t")).await.unwrap();
    rig.pass(LIFE + SECOND).await;
    let before = cache.stats();
    for _ in 0..3 {
        let told = cache.inspect("a").await;
        assert!(told.memory.is_none() && told.store.is_some_and(|store| store.lease.is_none()));
        assert!(matches!(in_store(&cache, "b").await, InStore { entry: Found::Nothing, lease: None, .. }));
    }
    assert_eq!(cache.stats(), before);
    let kept = stored(&cache, "a").await;
    assert!(kept.value.is_some() && kept.stale_for > STALE - SECOND * 15, "{kept:?}");
}

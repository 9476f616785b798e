//! Values that are invalidated together: by a tag, or all of a space.

use std::{sync::Arc, time::Duration};

use forebay::{
    ErrorKind,
    cache::{Builder, Cache, Filled, Invalidated, Load, LoadError, Loaded, Lookup, Put, Refresh, Source},
};
use tokio::{sync::Semaphore, task::JoinHandle};

use crate::rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, entry, fill, held, text};

const STALE: Duration = Duration::from_secs(600);

fn tagged(value: &str, tags: &[&str]) -> Loaded<String> {
    Loaded::new(value.to_owned()).tags(tags)
}

async fn put(cache: &Cache<String>, id: &str, value: &str, tags: &[&str]) {
    assert_eq!(cache.put(id, tagged(value, tags)).await.unwrap(), Put::Stored);
}

/// Has `value` loaded for `id`, which is stored by the time this ends.
async fn load(rig: &impl Rig, cache: &Cache<String>, id: &str, value: &str, tags: &[&str]) {
    let loaded = tagged(value, tags);
    let answer = cache.get_or_load(id, async move |_| Ok::<_, String>(loaded)).await;
    assert_eq!(text(&answer), value);
    rig.settle().await;
}

async fn invalidate(cache: &Cache<String>, tag: &str) {
    assert_eq!(cache.invalidate_tag(tag).await, Invalidated::Everywhere);
}

async fn clear(cache: &Cache<String>) {
    assert_eq!(cache.clear().await, Invalidated::Everywhere);
}

/// A cache with process memory, and one without.
fn with_and_without_memory(rig: &impl Rig) -> [Cache<String>; 2] {
    let without = rig.builder("case:store").local_time_to_live(Duration::ZERO);
    [rig.cache(), without.build().unwrap()]
}

fn keeping(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").stale_for(STALE)
}

/// A load of "a" that has begun, and goes on when it is let.
struct Paused {
    caller: JoinHandle<Answer>,
    go: Arc<Semaphore>,
}

impl Paused {
    async fn begin(rig: &impl Rig, cache: &Cache<String>, value: &str, tags: &[&str]) -> Self {
        Self::begin_with(rig, cache, tagged(value, tags), |_, loaded| loaded).await
    }

    /// What is loaded is `make` of what the loader was given at its start.
    async fn begin_with(
        rig: &impl Rig,
        cache: &Cache<String>,
        loaded: Loaded<String>,
        make: fn(&Load<String>, Loaded<String>) -> Loaded<String>,
    ) -> Self {
        let (go, begun) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (cache, gone, began) = (cache.clone(), go.clone(), begun.clone());
        let loader = async move |load: Load<String>| {
            began.add_permits(1);
            gone.acquire().await.unwrap().forget();
            Ok::<_, String>(make(&load, loaded))
        };
        let caller = tokio::spawn(async move { cache.get_or_load("a", loader).await });
        while begun.try_acquire().is_err() {
            rig.settle().await;
        }
        Self { caller, go }
    }

    async fn end(self, rig: &impl Rig) -> Answer {
        self.go.add_permits(1);
        let answer = at_once(rig, self.caller).await;
        rig.settle().await;
        answer
    }
}

pub(crate) async fn an_invalidated_tag_takes_all_its_values_and_no_others(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        put(&cache, "a", "A", &["red", "new"]).await;
        load(&rig, &cache, "b", "B", &["red"]).await;
        load(&rig, &cache, "c", "C", &["blue"]).await;
        load(&rig, &cache, "d", "D", &[]).await;
        for id in ["a", "b", "c", "d"] {
            assert!(held(&cache, id).await.is_some(), "{id}");
        }
        invalidate(&cache, "red").await;
        assert_eq!(held(&cache, "a").await, None);
        assert_eq!(held(&cache, "b").await, None);
        assert_eq!(held(&cache, "c").await.as_deref(), Some("C"));
        assert_eq!(held(&cache, "d").await.as_deref(), Some("D"));
    }
}

pub(crate) async fn clearing_takes_all_of_the_space_and_of_no_other(rig: impl Rig) {
    let other = rig.builder("other").build().unwrap();
    for cache in with_and_without_memory(&rig) {
        put(&cache, "a", "A", &["red"]).await;
        load(&rig, &cache, "b", "B", &[]).await;
        cache.put_absent_for("c", LIFE).await.unwrap();
        fill(&other, "a", "other").await;
        assert_eq!(held(&cache, "b").await.as_deref(), Some("B"));
        clear(&cache).await;
        for id in ["a", "b"] {
            assert_eq!(held(&cache, id).await, None, "{id}");
        }
        assert!(matches!(cache.read("c").await, forebay::cache::Read::Miss));
        assert_eq!(held(&other, "a").await.as_deref(), Some("other"));
    }
}

pub(crate) async fn what_is_stored_afterwards_stays(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        for round in ["one", "two"] {
            put(&cache, "a", round, &["red"]).await;
            load(&rig, &cache, round, round, &["red"]).await;
            assert_eq!(held(&cache, "a").await.as_deref(), Some(round));
            assert_eq!(held(&cache, round).await.as_deref(), Some(round));
            invalidate(&cache, "red").await;
            clear(&cache).await;
        }
        assert_eq!(held(&cache, "a").await, None);
    }
}

pub(crate) async fn a_tagged_value_is_a_hit_in_process_memory(rig: impl Rig) {
    let cache = rig.cache();
    load(&rig, &cache, "a", "A", &["red", "blue"]).await;
    assert_eq!(entry(&cache, "a").await.source, Source::Memory);
    let origin = Origin::ready();
    assert_eq!(text(&cache.get_or_load("a", origin.gives("B")).await), "A");
    assert_eq!(origin.calls(), 0);
    invalidate(&cache, "green").await;
    assert_eq!(entry(&cache, "a").await.source, Source::Memory);
}

// C1, Q7: FusionCache #628 and BentoCache 1.6.1 store what was loaded before its tag was removed.
pub(crate) async fn an_invalidated_tag_during_a_load_keeps_its_value_out(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        let paused = Paused::begin(&rig, &cache, "old", &["red"]).await;
        invalidate(&cache, "red").await;
        assert_eq!(text(&paused.end(&rig).await), "old");
        assert_eq!(held(&cache, "a").await, None);
    }
}

// C1: FusionCache #628.
pub(crate) async fn clearing_during_a_load_keeps_its_value_out(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        let paused = Paused::begin(&rig, &cache, "old", &[]).await;
        clear(&cache).await;
        assert_eq!(text(&paused.end(&rig).await), "old");
        assert_eq!(held(&cache, "a").await, None);
    }
}

// C2 for tags: who comes after the invalidation has returned gets nothing from before it.
pub(crate) async fn a_caller_after_an_invalidated_tag_is_not_served_by_a_load_from_before(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        for group in ["red", "all"] {
            let paused = Paused::begin(&rig, &cache, "old", &["red"]).await;
            match group {
                "red" => invalidate(&cache, "red").await,
                _ => clear(&cache).await,
            }
            let (late, loaded) = (cache.clone(), tagged("new", &["red"]));
            let late =
                tokio::spawn(
                    async move { late.get_or_load("a", async move |_| Ok::<_, String>(loaded)).await },
                );
            rig.settle().await;
            assert_eq!(text(&paused.end(&rig).await), "old");
            assert_eq!(text(&at_once(&rig, late).await), "new");
            rig.settle().await;
            assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
            invalidate(&cache, "red").await;
        }
    }
}

// C2 for tags, where nothing is stored that could be passed.
pub(crate) async fn what_is_not_stored_serves_nobody_who_comes_after_its_tag_was_invalidated(rig: impl Rig) {
    let cache = rig.cache();
    let unstored = |_: &Load<String>, loaded: Loaded<String>| loaded.do_not_store();
    let paused = Paused::begin_with(&rig, &cache, tagged("old", &["red"]), unstored).await;
    invalidate(&cache, "red").await;
    let late = crate::rig::call(&cache, "a", Origin::ready().gives("new"));
    rig.settle().await;
    assert_eq!(text(&paused.end(&rig).await), "old");
    assert_eq!(text(&at_once(&rig, late).await), "new");
}

// C1: FusionCache #628, whose load behind the back is stamped when it ends.
pub(crate) async fn an_invalidated_tag_during_a_refresh_keeps_its_value_out(rig: impl Rig) {
    let cache = keeping(&rig).refresh(Refresh::Stale).build().unwrap();
    for group in ["red", "all"] {
        put(&cache, "a", "stale", &["red"]).await;
        rig.pass(LIFE + SECOND).await;
        let paused = Paused::begin(&rig, &cache, "old", &["red"]).await;
        match group {
            "red" => invalidate(&cache, "red").await,
            _ => clear(&cache).await,
        }
        assert_eq!(text(&paused.end(&rig).await), "stale");
        rig.settle().await;
        assert_eq!(held(&cache, "a").await, None, "{group}");
    }
}

// C4: FusionCache #648, where an expired value comes back when the load fails.
pub(crate) async fn an_invalidated_value_is_no_fallback_whatever_invalidated_it(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    for (id, group) in [("a", "red"), ("b", "all")] {
        put(&cache, id, "stale", &["red"]).await;
        rig.pass(LIFE + SECOND).await;
        match group {
            "red" => invalidate(&cache, "red").await,
            _ => clear(&cache).await,
        }
        let failed = cache.get_or_load(id, Origin::ready().fails("the origin failed")).await;
        assert!(matches!(failed, Err(LoadError::Failed(_))), "{group}: {failed:?}");
    }
}

// C4, while the load runs.
pub(crate) async fn what_is_invalidated_while_its_load_fails_is_no_fallback(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    for (id, group) in [("a", "red"), ("b", "all")] {
        put(&cache, id, "stale", &["red"]).await;
        rig.pass(LIFE + SECOND).await;
        let origin = Origin::paused();
        let failing = crate::rig::call(&cache, id, origin.fails("the origin failed"));
        while origin.calls() == 0 {
            rig.settle().await;
        }
        match group {
            "red" => invalidate(&cache, "red").await,
            _ => clear(&cache).await,
        }
        origin.let_go();
        let failed = at_once(&rig, failing).await;
        assert!(matches!(failed, Err(LoadError::Failed(_))), "{group}: {failed:?}");
    }
}

// C6: FusionCache #638, where "not modified" makes an invalidated value fresh again.
pub(crate) async fn an_invalidated_value_is_not_offered_as_unmodified_whatever_invalidated_it(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    for (id, group) in [("a", "red"), ("b", "all")] {
        put(&cache, id, "stale", &["red"]).await;
        rig.pass(LIFE + SECOND).await;
        match group {
            "red" => invalidate(&cache, "red").await,
            _ => clear(&cache).await,
        }
        let given = cache.get_or_load(id, async |load: Load<String>| {
            assert!(load.not_modified().is_none());
            Ok::<_, String>(tagged(&format!("{:?}", load.stale()), &["red"]))
        });
        assert_eq!(text(&given.await), "None", "{group}");
    }
}

// C6: FusionCache #638, the tag being removed while the origin is asked.
pub(crate) async fn what_was_not_modified_is_stored_as_old_as_its_load(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    put(&cache, "a", "stale", &["red"]).await;
    rig.pass(LIFE + SECOND).await;
    let unmodified = |load: &Load<String>, _| load.not_modified().expect("it is there");
    let paused = Paused::begin_with(&rig, &cache, tagged("", &[]), unmodified).await;
    invalidate(&cache, "red").await;
    assert_eq!(text(&paused.end(&rig).await), "stale");
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn what_was_not_modified_keeps_its_tags(rig: impl Rig) {
    let cache = keeping(&rig).build().unwrap();
    put(&cache, "a", "stale", &["red"]).await;
    rig.pass(LIFE + SECOND).await;
    let unmodified = |load: &Load<String>, _| load.not_modified().expect("it is there");
    let paused = Paused::begin_with(&rig, &cache, tagged("", &[]), unmodified).await;
    assert_eq!(text(&paused.end(&rig).await), "stale");
    assert_eq!(held(&cache, "a").await.as_deref(), Some("stale"));
    invalidate(&cache, "red").await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn a_lease_carries_the_number_from_which_its_value_is_told_to_be_old(rig: impl Rig) {
    let cache = rig.cache();
    for group in ["red", "all", "blue"] {
        let Lookup::Lease(lease) = cache.lookup("a", Duration::ZERO).await else { panic!("no lease") };
        let token = lease.into_token().to_string().parse().unwrap();
        match group {
            "all" => clear(&cache).await,
            tag => invalidate(&cache, tag).await,
        }
        let filled = cache.resume("a", token).fill(tagged("old", &["red"])).await.unwrap();
        assert_eq!(filled, if group == "blue" { Filled::Stored } else { Filled::Lost }, "{group}");
        assert_eq!(held(&cache, "a").await.is_some(), group == "blue");
    }
    // What was lost was given back: the next did not have to wait for it.
    invalidate(&cache, "red").await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn every_odd_tag_is_one_of_its_own(rig: impl Rig) {
    let cache = rig.cache();
    let long = "t".repeat(1000);
    let tags = ["", "%", " ", "{a}", "}{", "a b", "*", "a*", "ä", "\n", "-", &long, &(long.clone() + "2")];
    for (n, tag) in tags.iter().enumerate() {
        put(&cache, &n.to_string(), tag, &[tag]).await;
    }
    for (n, tag) in tags.iter().enumerate() {
        assert_eq!(held(&cache, &n.to_string()).await.as_deref(), Some(*tag));
        invalidate(&cache, tag).await;
        assert_eq!(held(&cache, &n.to_string()).await, None, "{tag:?}");
    }
}

pub(crate) async fn several_tags_are_invalidated_at_once(rig: impl Rig) {
    let cache = rig.cache();
    for id in ["a", "b", "c"] {
        load(&rig, &cache, id, id, &[id]).await;
    }
    assert_eq!(cache.invalidate_tags(["a", "b"]).await, Invalidated::Everywhere);
    assert_eq!(held(&cache, "a").await, None);
    assert_eq!(held(&cache, "b").await, None);
    assert_eq!(held(&cache, "c").await.as_deref(), Some("c"));
    assert_eq!(cache.invalidate_tags([""; 0]).await, Invalidated::Everywhere);
}

pub(crate) async fn more_tags_than_a_value_can_have_are_refused_with_the_bound(rig: impl Rig) {
    let cache = rig.cache();
    let tags = |count: usize| (0..count).map(|n| n.to_string());
    let most = Loaded::new("most".to_owned()).tags(tags(128)).tags(tags(128));
    assert_eq!(cache.put("a", most).await.unwrap(), Put::Stored);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("most"));
    let refusal = cache.put("a", Loaded::new("more".to_owned()).tags(tags(129))).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    let said = refusal.to_string();
    assert!(said.contains("129") && said.contains("at most 128"), "{said}");
    assert_eq!(held(&cache, "a").await.as_deref(), Some("most"));
    let more = Loaded::new("more".to_owned()).tags(tags(129));
    let given = cache.get_or_load("b", async move |_| Ok::<_, String>(more)).await;
    assert_eq!(text(&given), "more");
    rig.settle().await;
    assert_eq!(held(&cache, "b").await, None);
}

pub(crate) async fn the_numbers_of_a_value_last_as_long_as_it_does(rig: impl Rig) {
    let cache = rig.cache();
    let long = Duration::from_secs(3600);
    for (id, tags) in [("a", &["red"][..]), ("b", &[])] {
        let loaded = tagged("long", tags).time_to_live(long);
        assert_eq!(cache.put(id, loaded).await.unwrap(), Put::Stored);
    }
    rig.pass(long - SECOND * 5).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("long"));
    assert_eq!(held(&cache, "b").await.as_deref(), Some("long"));
    clear(&cache).await;
    assert_eq!(held(&cache, "b").await, None);
}

pub(crate) async fn an_invalidated_tag_is_done_though_its_caller_leaves(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        load(&rig, &cache, "a", "A", &["red"]).await;
        let changer = cache.clone();
        assert!(futures::poll!(Box::pin(changer.invalidate_tag("red"))).is_pending());
        rig.settle().await;
        assert_eq!(held(&cache, "a").await, None);
        put(&cache, "a", "B", &["red"]).await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("B"));
    }
}

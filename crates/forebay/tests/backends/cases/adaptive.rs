//! Lives that follow from how often a value is read.

use std::time::Duration;

use forebay::cache::{Builder, Cache, Filled, Load, Loaded, Lookup};

use crate::rig::{LIFE, Rig, SECOND, entry, fill, held, same};

const MIN: Duration = Duration::from_secs(30);
const MAX: Duration = Duration::from_secs(90);

fn adaptive(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").adaptive(MIN, MAX)
}

/// Asserts what life "a" has now, by one read.
async fn lives(rig: &impl Rig, cache: &Cache<String>, life: Duration) {
    rig.settle().await;
    let told = entry(cache, "a").await;
    assert!(same(rig, told.fresh_for, life), "{told:?}, not {life:?}");
}

/// Loads "a" again and again, and reads it in between.
async fn adapts(rig: &impl Rig, cache: &Cache<String>) {
    for (reads, life) in [(99, MIN), (299, MIN + SECOND * 30), (0, MIN + SECOND * 45)] {
        cache.invalidate("a").await;
        fill(cache, "a", "A").await;
        lives(rig, cache, life).await;
        for _ in 0..reads {
            held(cache, "a").await;
        }
    }
}

pub(crate) async fn what_is_read_more_lives_longer(rig: impl Rig) {
    adapts(&rig, &adaptive(&rig).build().unwrap()).await;
}

pub(crate) async fn what_is_read_more_lives_longer_without_process_memory_too(rig: impl Rig) {
    adapts(&rig, &adaptive(&rig).local_time_to_live(Duration::ZERO).build().unwrap()).await;
}

pub(crate) async fn what_a_holder_of_a_lease_fills_lives_longer_too(rig: impl Rig) {
    let cache = adaptive(&rig).build().unwrap();
    for life in [MIN, MIN + SECOND * 30] {
        let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("nobody loads") };
        assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
        lives(&rig, &cache, life).await;
        for _ in 0..99 {
            assert!(matches!(cache.lookup("a", SECOND).await, Lookup::Hit(_)));
        }
        cache.invalidate("a").await;
    }
}

pub(crate) async fn a_life_that_is_given_does_not_adapt(rig: impl Rig) {
    let cache = adaptive(&rig).build().unwrap();
    cache.put("a", "A".to_owned()).await.unwrap();
    lives(&rig, &cache, LIFE).await;
    cache.invalidate("a").await;
    let loader = async |_: Load<String>| Ok::<_, String>(Loaded::new("A".to_owned()).time_to_live(MAX * 2));
    cache.get_or_load("a", loader).await.unwrap();
    lives(&rig, &cache, MAX * 2).await;
}

pub(crate) async fn what_adapts_has_jitter_too(rig: impl Rig) {
    let cache = adaptive(&rig).jitter(0.5).build().unwrap();
    let mut told = Vec::new();
    for id in 0..20 {
        fill(&cache, &id.to_string(), "A").await;
        rig.settle().await;
        told.push(entry(&cache, &id.to_string()).await.fresh_for);
    }
    assert!(told.iter().all(|life| (MIN / 2 - SECOND..=MIN * 3 / 2).contains(life)), "{told:?}");
    let longest = told.iter().max().expect("there are twenty");
    assert!(told.iter().any(|life| longest.abs_diff(*life) > SECOND), "{told:?}");
}

pub(crate) async fn bounds_that_make_no_sense_are_refused_by_name(rig: impl Rig) {
    for (min, max) in [(MAX, MIN), (LIFE, LIFE), (MIN, MIN + SECOND), (MAX, MAX * 2), (Duration::ZERO, MAX)] {
        let refusal = rig.builder("case").adaptive(min, max).build().unwrap_err();
        assert!(refusal.to_string().contains("adaptive"), "{refusal}");
    }
}

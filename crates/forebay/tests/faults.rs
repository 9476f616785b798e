//! A memory store that can be out of reach behaves as Redis does then, on a clock of the test's own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{convert::Infallible, time::Duration};

use forebay::{
    Forebay,
    cache::{Cache, Filled, Invalidated, Lookup, Matched, Put},
    clock::{Clock, Manual},
    testing::{Fault, Faults},
};

const LIFE: Duration = Duration::from_secs(60);

struct Stage {
    faults: Faults,
    time: Manual,
    forebay: Forebay,
    cache: Cache<u64>,
}

impl Stage {
    async fn new() -> Self {
        let ((clock, time), faults) = (Clock::manual(), Faults::default());
        let built = Forebay::builder("faults").memory().clock(clock).faults(faults.clone()).build();
        let forebay = built.await.unwrap();
        let cache = forebay.cache("numbers", LIFE).jitter(0.0).build().unwrap();
        Self { faults, time, forebay, cache }
    }

    /// The same store without process memory.
    fn uncached(&self) -> Cache<u64> {
        self.forebay.cache("others", LIFE).local_time_to_live(Duration::ZERO).build().unwrap()
    }

    async fn pass(&self, span: Duration) {
        for _ in 0..span.as_millis() / 25 {
            settle().await;
            self.time.advance(Duration::from_millis(25));
        }
        settle().await;
    }
}

async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

async fn load(cache: &Cache<u64>, id: &str, value: u64) -> u64 {
    *cache.get_or_load(id, async move |_| Ok::<_, Infallible>(value)).await.unwrap()
}

#[tokio::test]
async fn what_is_changed_out_of_reach_is_not_read_until_the_store_knows() {
    let stage = Stage::new().await;
    let cache = stage.uncached();
    assert_eq!(cache.put("a", 1).await.unwrap(), Put::Stored);
    stage.faults.set(Fault::Refuses);
    assert_eq!(cache.invalidate("a").await, Invalidated::Deferred);
    stage.faults.set(Fault::None);
    assert_eq!(load(&cache, "a", 2).await, 2);
    stage.pass(Duration::from_secs(1)).await;
    assert_eq!(cache.get("a").await, None);
}

#[tokio::test]
async fn a_put_out_of_reach_is_not_done_late() {
    let stage = Stage::new().await;
    let cache = stage.uncached();
    cache.put("a", 1).await.unwrap();
    stage.faults.set(Fault::Refuses);
    assert_eq!(cache.put("a", 2).await.unwrap(), Put::Deferred);
    stage.faults.set(Fault::None);
    stage.pass(Duration::from_secs(1)).await;
    assert_eq!(cache.get("a").await, None);
}

#[tokio::test]
async fn a_store_that_hangs_costs_its_budget_once() {
    let stage = Stage::new().await;
    stage.faults.set(Fault::Hangs);
    let cache = stage.cache.clone();
    let caller = tokio::spawn(async move { load(&cache, "a", 1).await });
    stage.pass(Duration::from_millis(25)).await;
    assert!(!caller.is_finished());
    stage.pass(Duration::from_millis(25)).await;
    assert!(caller.is_finished());
}

#[tokio::test]
async fn a_lost_answer_leaves_no_lease() {
    let stage = Stage::new().await;
    let cache = stage.uncached();
    stage.faults.set(Fault::LosesAnswers);
    let caller = tokio::spawn({
        let cache = cache.clone();
        async move { load(&cache, "a", 1).await }
    });
    stage.pass(Duration::from_millis(200)).await;
    assert_eq!(caller.await.unwrap(), 1);
    stage.faults.set(Fault::None);
    assert!(matches!(cache.lookup("a", Duration::ZERO).await, Lookup::Lease(_)));
}

#[tokio::test]
async fn one_of_those_who_look_up_out_of_reach_loads_for_all() {
    let stage = Stage::new().await;
    stage.faults.set(Fault::Refuses);
    let Lookup::Lease(lease) = stage.cache.lookup("a", Duration::ZERO).await else { panic!("nobody loads") };
    let cache = stage.cache.clone();
    let waiter = tokio::spawn(async move { cache.lookup("a", LIFE).await });
    settle().await;
    let token = lease.into_token();
    assert_eq!(stage.cache.resume("a", token).fill(7).await.unwrap(), Filled::Deferred);
    stage.pass(Duration::from_millis(100)).await;
    match waiter.await.unwrap() {
        Lookup::Hit(entry) => assert_eq!(*entry.value, 7),
        other => panic!("the waiter got {other:?}"),
    }
    stage.faults.set(Fault::None);
    assert_eq!(load(&stage.uncached(), "a", 8).await, 8);
}

#[tokio::test]
async fn what_is_in_memory_is_read_past_its_local_life() {
    let stage = Stage::new().await;
    let brief = stage.forebay.cache::<u64>("brief", LIFE).jitter(0.0).local_time_to_live(LIFE / 60);
    let brief = brief.build().unwrap();
    assert_eq!(load(&brief, "a", 1).await, 1);
    stage.pass(LIFE / 30).await;
    stage.faults.set(Fault::Refuses);
    assert_eq!(load(&brief, "a", 2).await, 1);
    stage.pass(LIFE).await;
    assert_eq!(load(&brief, "a", 3).await, 3);
}

#[tokio::test]
async fn what_memory_answers_past_its_fresh_life_while_its_load_fails_is_counted_as_stale() {
    let stage = Stage::new().await;
    let second = Duration::from_secs(1);
    let cache = stage.forebay.cache("short", second).jitter(0.0).stale_for(LIFE).build().unwrap();
    assert_eq!(load(&cache, "a", 1).await, 1);
    stage.pass(2 * second).await;
    stage.faults.set(Fault::Refuses);
    assert_eq!(*cache.get_or_load("a", async |_| Err::<u64, _>("failed")).await.unwrap(), 1);
    let stats = cache.stats();
    assert_eq!((stats.stale_hits, stats.memory_hits), (1, 0), "{stats:?}");
}

#[tokio::test]
async fn a_store_out_of_reach_is_not_looked_through_and_this_process_forgets_all_the_same() {
    let stage = Stage::new().await;
    assert_eq!(load(&stage.cache, "a", 1).await, 1);
    stage.faults.set(Fault::Refuses);
    let matched = stage.cache.invalidate_matching("*").await.unwrap();
    assert_eq!(matched, Matched::Done { invalidated: 0, deferred: 0, complete: false });
    assert_eq!(load(&stage.cache, "a", 2).await, 2);
}

#[tokio::test]
async fn what_is_invalidated_again_out_of_reach_is_so_once_the_store_is_back() {
    let stage = Stage::new().await;
    let (space, lag) = (stage.forebay.cache("others", LIFE).jitter(0.0), LIFE / 4);
    let cache = space.local_time_to_live(Duration::ZERO).invalidate_again_after(lag).build().unwrap();
    assert_eq!(cache.invalidate("a").await, Invalidated::Everywhere);
    assert_eq!(load(&cache, "a", 1).await, 1);
    stage.faults.set(Fault::Refuses);
    stage.pass(lag).await;
    stage.faults.set(Fault::None);
    stage.pass(Duration::from_secs(1)).await;
    assert!(cache.get("a").await.is_none());
}

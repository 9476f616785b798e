//! What processes that load ahead have to do with each other, and with a store that is slow or gone.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    LIFE, cache, process, settle,
    stores::{Gated, Gone},
};
use crate::{
    cache::{
        Cache, Loaded, Lookup, Refresh,
        backend::{Backend, Change, Settle, Stored},
        entry::Source,
        options::Options,
        refresh::PAUSE,
        token::Token,
    },
    clock::Manual,
};

/// Loads of all processes.
#[derive(Clone, Default)]
struct Origin(Arc<AtomicUsize>);

impl Origin {
    /// Reads `a`, whose loader gives `value`, and lets all happen that this has set going.
    async fn read(&self, cache: &Cache<u64>, value: u64) -> u64 {
        let loads = self.0.clone();
        let answer = cache.get_or_load("a", async move |_| {
            loads.fetch_add(1, SeqCst);
            Ok::<_, Infallible>(value)
        });
        let answer = *answer.await.expect("it loads");
        settle().await;
        answer
    }

    fn loads(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// One process of those over a common store, whose entries have half a life left when they are loaded again.
fn one(common: &Cache<u64>, store: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>) -> Cache<u64> {
    let options = Options { refresh: Refresh::Ahead(0.5), ..common.options().clone() };
    process(common, options, store)
}

/// So many processes that remember an "a" which is due, and their time.
async fn due<const N: usize>() -> ([Cache<u64>; N], Manual) {
    let (common, time) = cache();
    common.put("a", 1).await.expect("it fits");
    let all = std::array::from_fn(|_| one(&common, |store| store));
    for process in &all {
        assert_eq!(process.get("a").await.as_deref(), Some(&1));
    }
    time.advance(LIFE / 2);
    (all, time)
}

// FusionCache #651, C43: every node loaded eagerly what the store had from another.
#[tokio::test]
async fn ten_processes_make_one_load_a_period_and_take_its_value_over() {
    let (all, time) = due::<10>().await;
    let origin = Origin::default();
    for period in 1..=4 {
        let before = period as u64;
        for process in &all {
            origin.read(process, before + 1).await;
        }
        assert_eq!(origin.loads(), period);
        time.advance(PAUSE);
        for process in &all {
            origin.read(process, 99).await;
            assert_eq!(origin.read(process, 99).await, before + 1);
        }
        assert_eq!(origin.loads(), period);
        time.advance(LIFE / 2);
    }
}

#[tokio::test]
async fn while_one_process_loads_the_others_go_on_and_seldom_ask() {
    let (common, time) = cache();
    common.put("a", 1).await.unwrap();
    let gated = Gated::over(common.inner.backend.clone());
    let (counted, here) = (gated.clone(), one(&common, |_| gated));
    let elsewhere = one(&common, |store| store);
    assert_eq!(*here.get("a").await.unwrap(), 1);
    time.advance(LIFE / 2);
    let (go, gone) = oneshot::channel::<()>();
    let slow = elsewhere.get_or_load("a", async move |_| {
        gone.await.ok();
        Ok::<_, Infallible>(2)
    });
    assert_eq!(*slow.await.unwrap(), 1);
    settle().await;
    let origin = Origin::default();
    for _ in 0..1_000 {
        time.advance(Duration::from_millis(1));
        assert_eq!(origin.read(&here, 9).await, 1);
    }
    assert!((5..=10).contains(&counted.leases()), "{}", counted.leases());
    go.send(()).unwrap();
    settle().await;
    time.advance(PAUSE);
    origin.read(&here, 9).await;
    assert_eq!((origin.read(&here, 9).await, origin.loads()), (2, 0));
}

#[tokio::test]
async fn a_later_entry_is_taken_over_however_short_its_life_is() {
    let ([here, elsewhere], _) = due().await;
    elsewhere.put("a", Loaded::new(2).time_to_live(Duration::from_secs(9))).await.unwrap();
    let origin = Origin::default();
    assert_eq!(origin.read(&here, 9).await, 1);
    assert_eq!((origin.read(&here, 9).await, origin.loads()), (2, 0));
}

#[tokio::test]
async fn the_store_decides_by_its_own_time_whether_an_entry_is_due() {
    let ([here], _) = due().await;
    let (store, token) = (&here.inner.backend, Token::roll(&here.inner.shared.context.dice));
    let Stored { bytes, .. } = store.read("a", &mut store.budget()).await.unwrap().unwrap();
    // The same entry once more, with a whole life before it.
    store.change("a", Change::Claim(token, LIFE)).await.unwrap();
    assert!(store.settle("a", token, Settle::Fill { bytes, life: LIFE }).await.unwrap());
    let origin = Origin::default();
    assert_eq!((origin.read(&here, 9).await, origin.read(&here, 9).await, origin.loads()), (1, 1, 0));
}

#[tokio::test]
async fn a_lease_elsewhere_that_ends_lets_one_process_load() {
    let ([dead, here, there], time) = due().await;
    let Lookup::Lease(lease) = dead.lookup("a", Duration::ZERO).await else { panic!("nobody loads") };
    let (origin, lasts) = (Origin::default(), lease.life());
    std::mem::forget(lease);
    assert_eq!((origin.read(&here, 2).await, origin.read(&there, 2).await, origin.loads()), (1, 1, 0));
    time.advance(lasts);
    assert_eq!((origin.read(&here, 2).await, origin.read(&there, 2).await, origin.loads()), (1, 1, 1));
}

// FusionCache #534, C42: with a value at hand, callers waited for a store that was slow.
#[tokio::test]
async fn with_a_value_at_hand_nobody_waits_for_the_store() {
    let (common, time) = cache();
    common.put("a", 1).await.unwrap();
    let gated = Gated::over(common.inner.backend.clone());
    let (gates, here) = (gated.clone(), one(&common, |_| gated));
    assert_eq!(*here.get("a").await.unwrap(), 1);
    time.advance(LIFE / 2);
    gates.lease.close();
    gates.read.close();
    let origin = Origin::default();
    for _ in 0..10 {
        time.advance(PAUSE);
        assert_eq!(origin.read(&here, 2).await, 1);
    }
    assert_eq!((here.stats().memory_hits, origin.loads()), (10, 0));
}

#[tokio::test]
async fn what_is_fresh_is_not_loaded_again_beside_a_store_that_cannot_be_asked() {
    let (common, time) = cache();
    let here = one(&common, |_| Arc::new(Gone));
    let origin = Origin::default();
    assert_eq!(origin.read(&here, 1).await, 1);
    time.advance(LIFE / 2);
    for _ in 0..3 {
        assert_eq!(origin.read(&here, 2).await, 1);
        let Lookup::Hit(entry) = here.lookup("a", LIFE).await else { panic!("there is a value") };
        assert_eq!((*entry.value, entry.source), (1, Source::Memory));
        time.advance(PAUSE);
    }
    assert_eq!(origin.loads(), 1);
    time.advance(LIFE / 2);
    assert_eq!((origin.read(&here, 2).await, origin.loads()), (2, 2));
}

#[tokio::test]
async fn a_value_that_is_replaced_serves_only_those_who_came_before_it_was_read() {
    let (common, time) = cache();
    common.put("a", 1).await.unwrap();
    let gated = Gated::over(common.inner.backend.clone());
    let options = Options {
        refresh: Refresh::Ahead(0.5),
        local_time_to_live: Duration::ZERO,
        ..common.options().clone()
    };
    let (gates, elsewhere) = (gated.clone(), one(&common, |store| store));
    // Without process memory, which would have to hear of the change.
    let here = process(&common, options, |_| gated);
    time.advance(LIFE / 2);
    gates.read.close();
    let look_up = || {
        let here = here.clone();
        tokio::spawn(async move { here.lookup("a", Duration::ZERO).await })
    };
    let early = look_up();
    settle().await;
    elsewhere.invalidate("a").await;
    let lease = elsewhere.lookup("a", Duration::ZERO).await;
    let late = look_up();
    settle().await;
    gates.read.reopen();
    assert!(matches!(early.await.unwrap(), Lookup::Hit(entry) if *entry.value == 1));
    assert!(matches!(late.await.unwrap(), Lookup::Busy { .. }));
    drop(lease);
}

#[tokio::test]
async fn what_is_fresh_is_leased_by_the_store_or_by_nobody() {
    let (common, time) = cache();
    common.put("a", 1).await.unwrap();
    let gated = Gated::over(common.inner.backend.clone());
    let (gates, here) = (gated.clone(), one(&common, |_| gated));
    time.advance(LIFE / 2);
    let mut will_do = Vec::new();
    for id in ["a", "missing"] {
        assert!(matches!(here.lookup(id, Duration::ZERO).await, Lookup::Hit(_) | Lookup::Lease(_)));
        will_do.push(gates.asked().unwrap().local_will_do);
    }
    assert_eq!(will_do, [false, true]);
}

//! Forced races between one process, its store and another process.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::{sync::oneshot, task::JoinHandle};

use super::{
    LIFE, cache, process, settle,
    stores::{Gated, Slow},
};
use crate::{
    cache::{Abandoned, Cache, Load, Lookup, options::Options},
    dice::Dice,
};

/// A process over a gated store whose values stay in its memory for `local`, and another one over the same
/// store without memory of its own.
async fn two(local: Duration) -> (Cache<u64>, Arc<Gated>, Cache<u64>) {
    let (common, _) = cache();
    let gated = Gated::over(common.inner.backend.clone());
    let behind_gates = gated.clone();
    let options = |local| Options { local_time_to_live: local, ..common.options().clone() };
    let here = process(&common, options(local), |_| behind_gates);
    let elsewhere = process(&common, options(Duration::ZERO), |store| store);
    (here, gated, elsewhere)
}

async fn gives(value: u64) -> Result<u64, Infallible> {
    Ok(value)
}

/// Starts a caller whose loader gives `value`.
fn call(cache: &Cache<u64>, value: u64) -> JoinHandle<u64> {
    let cache = cache.clone();
    tokio::spawn(async move {
        *cache.get_or_load("a", async move |_| gives(value).await).await.expect("it succeeds")
    })
}

/// Starts a caller whose loader gives `value` once it is let go.
fn call_paused(cache: &Cache<u64>, value: u64) -> (JoinHandle<u64>, oneshot::Sender<()>) {
    let (cache, (go, gone)) = (cache.clone(), oneshot::channel());
    let loader = async move |_: Load<u64>| {
        gone.await.ok();
        gives(value).await
    };
    (tokio::spawn(async move { *cache.get_or_load("a", loader).await.expect("it succeeds") }), go)
}

#[tokio::test]
async fn what_was_read_before_an_invalidation_does_not_enter_process_memory() {
    let (here, gated, _) = two(LIFE).await;
    here.put("a", 1).await.unwrap();
    gated.read.close();
    let early = call(&here, 9);
    settle().await;
    here.invalidate("a").await;
    gated.read.reopen();
    assert_eq!(early.await.unwrap(), 1);
    assert!(here.inner.recall("a").is_none());
    assert_eq!(call(&here, 2).await.unwrap(), 2);
}

#[tokio::test]
async fn a_read_serves_only_those_who_came_before_it_was_sent() {
    let (here, gated, elsewhere) = two(Duration::ZERO).await;
    elsewhere.put("a", 1).await.unwrap();
    gated.read.close();
    let early = call(&here, 9);
    settle().await;
    elsewhere.put("a", 2).await.unwrap();
    let late = call(&here, 9);
    settle().await;
    gated.read.reopen();
    assert_eq!(early.await.unwrap(), 1);
    assert_eq!(late.await.unwrap(), 2);
}

#[tokio::test]
async fn nobody_who_came_before_the_load_waits_for_its_fill() {
    let (here, gated, _) = two(LIFE).await;
    gated.settled.close();
    assert_eq!(call(&here, 1).await.unwrap(), 1);
}

#[tokio::test]
async fn who_came_during_the_load_waits_for_its_fill_and_loads_nothing() {
    let (here, gated, _) = two(LIFE).await;
    let (early, go) = call_paused(&here, 1);
    settle().await;
    let late = call(&here, 2);
    settle().await;
    gated.settled.close();
    go.send(()).unwrap();
    settle().await;
    assert!(early.is_finished() && !late.is_finished());
    gated.settled.reopen();
    assert_eq!(late.await.unwrap(), 1);
}

#[tokio::test]
async fn a_fill_serves_only_those_who_came_before_it_was_sent() {
    let (here, gated, elsewhere) = two(Duration::ZERO).await;
    let (early, go) = call_paused(&here, 1);
    settle().await;
    gated.settled.close();
    go.send(()).unwrap();
    assert_eq!(early.await.unwrap(), 1);
    elsewhere.invalidate("a").await;
    let late = call(&here, 2);
    settle().await;
    gated.settled.reopen();
    assert_eq!(late.await.unwrap(), 2);
}

#[tokio::test]
async fn who_came_during_a_load_that_another_process_overtook_loads_anew() {
    let (here, _, elsewhere) = two(LIFE).await;
    let (early, go) = call_paused(&here, 1);
    settle().await;
    elsewhere.invalidate("a").await;
    let late = call(&here, 2);
    settle().await;
    go.send(()).unwrap();
    assert_eq!(early.await.unwrap(), 1);
    assert_eq!(late.await.unwrap(), 2);
    assert_eq!(call(&here, 9).await.unwrap(), 2);
}

#[tokio::test]
async fn what_is_read_while_an_invalidation_is_on_its_way_is_forgotten_when_it_is_done() {
    let (here, gated, elsewhere) = two(LIFE).await;
    elsewhere.put("a", 1).await.unwrap();
    gated.change.close();
    let changer = here.clone();
    let change = tokio::spawn(async move { changer.invalidate("a").await });
    settle().await;
    assert_eq!(call(&here, 9).await.unwrap(), 1);
    gated.change.reopen();
    change.await.unwrap();
    assert_eq!(call(&here, 2).await.unwrap(), 2);
}

#[tokio::test]
async fn a_fill_on_its_way_goes_on_when_all_who_waited_have_their_value() {
    let (common, _) = cache();
    let gated = Gated::over(common.inner.backend.clone());
    let behind_gates = gated.clone();
    let cancels = Options { abandoned: Abandoned::Cancel, ..common.options().clone() };
    let here = process(&common, cancels, |_| behind_gates);
    gated.settle.close();
    assert_eq!(call(&here, 1).await.unwrap(), 1);
    settle().await;
    gated.settle.reopen();
    settle().await;
    assert_eq!(common.get("a").await.as_deref(), Some(&1));
}

#[tokio::test]
async fn who_comes_while_a_failing_load_looks_for_its_fallback_gets_the_stale_value_too() {
    let (common, time) = cache();
    let gated = Gated::over(common.inner.backend.clone());
    let behind_gates = gated.clone();
    let keeps = Options { stale_for: LIFE, ..common.options().clone() };
    let here = process(&common, keeps, |_| behind_gates);
    here.put("a", 1).await.unwrap();
    time.advance(LIFE);
    let (go, gone) = oneshot::channel::<()>();
    let failing = here.clone();
    let early = tokio::spawn(async move {
        let loader = async move |_: Load<u64>| {
            gone.await.ok();
            Err::<u64, &str>("the origin failed")
        };
        failing.get_or_load("a", loader).await
    });
    settle().await;
    gated.read.close();
    go.send(()).unwrap();
    settle().await;
    let late = call(&here, 2);
    settle().await;
    gated.read.reopen();
    assert_eq!((*early.await.unwrap().unwrap(), late.await.unwrap()), (1, 1));
}

#[tokio::test]
async fn a_renewal_that_is_refused_sends_newcomers_to_the_next_flight() {
    let (common, time) = cache();
    let here = process(&common, common.options().clone(), |store| store);
    let (early, _go) = call_paused(&here, 1);
    settle().await;
    common.invalidate("a").await;
    time.advance(here.options().lease / 3);
    settle().await;
    assert_eq!(call(&here, 2).await.unwrap(), 2);
    assert!(!early.is_finished());
}

#[tokio::test]
async fn a_load_longer_than_its_lease_keeps_it() {
    let (common, time) = cache();
    let elsewhere = process(&common, Options { wait: LIFE, ..common.options().clone() }, |store| store);
    let (early, go) = call_paused(&common, 1);
    settle().await;
    let other = call(&elsewhere, 2);
    for _ in 0..20 {
        time.advance(Duration::from_secs(1));
        settle().await;
    }
    go.send(()).unwrap();
    assert_eq!((early.await.unwrap(), other.await.unwrap()), (1, 1));
}

/// A search that has found nothing is no answer to a load, which waits for the end of its flight.
#[tokio::test]
async fn an_absence_on_its_way_keeps_nobody_spinning() {
    let (here, gated, _) = two(LIFE).await;
    gated.settled.close();
    let (search, (go, gone)) = (here.clone(), oneshot::channel::<()>());
    let nothing = async move |_: Load<u64>| {
        gone.await.ok();
        Ok::<Option<u64>, Infallible>(None)
    };
    let search = tokio::spawn(async move { search.find_or_load("a", nothing).await });
    let load = call(&here, 2);
    settle().await;
    go.send(()).unwrap();
    settle().await;
    assert!(search.is_finished() && !load.is_finished());
    gated.settled.reopen();
    assert_eq!(load.await.unwrap(), 2);
}

// C16, rueidis PR 1010: what was asked for by a caller that is gone stays locked.
#[tokio::test]
async fn a_lease_on_its_way_to_a_caller_that_is_gone_is_given_back() {
    let (common, _) = cache();
    let slow = process(&common, common.options().clone(), |store| Slow::over(store, 7));
    let dice = Dice::seeded(2);
    for n in 0..1000 {
        let (slow, id) = (slow.clone(), n.to_string());
        let caller = tokio::spawn(async move {
            let _held = slow.lookup(id, Duration::from_secs(1)).await;
            std::future::pending::<()>().await;
        });
        for _ in 0..dice.bits() % 30 {
            tokio::task::yield_now().await;
        }
        caller.abort();
        settle().await;
        let next = common.lookup(n.to_string(), Duration::ZERO).await;
        assert!(matches!(next, Lookup::Lease(_)), "{n}: {next:?}");
    }
}

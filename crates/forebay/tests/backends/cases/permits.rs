//! On whose permit a load runs that another load asks for.

use std::sync::Arc;

use forebay::cache::{Abandoned, Cache, LoadError, Lookup, Refresh};
use tokio::sync::Notify;

use super::recursion::asks;
use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, put_stale, text};

/// A cache that loads one value at a time.
fn one_at_a_time(rig: &impl Rig, space: &str) -> Cache<String> {
    rig.builder(space).load_concurrency(1).build().expect("the options fit")
}

pub(crate) async fn a_nested_load_runs_on_the_permit_of_the_outer(rig: impl Rig) {
    let (cache, origin) = (one_at_a_time(&rig, "case"), Origin::ready());
    let caller = call(&cache, "a", asks(&cache, "b", asks(&cache, "c", origin.gives("C"))));
    assert_eq!(text(&at_once(&rig, caller).await), "C");
}

pub(crate) async fn two_spaces_that_ask_each_other_need_one_permit_each(rig: impl Rig) {
    let (first, second) = (one_at_a_time(&rig, "first"), one_at_a_time(&rig, "second"));
    let (go, origin) = (Arc::new(Notify::new()), Origin::ready());
    let callers = [(&first, &second), (&second, &first)].map(|(own, other)| {
        let (asks, go) = (asks(other, "nested", origin.gives("nested")), go.clone());
        call(own, "a", async move |load| {
            go.notified().await;
            asks(load).await
        })
    });
    rig.settle().await;
    go.notify_waiters();
    for caller in callers {
        assert_eq!(text(&at_once(&rig, caller).await), "nested");
    }
}

pub(crate) async fn a_load_that_waits_for_a_permit_gets_that_of_a_load_that_joins_it(rig: impl Rig) {
    let (cache, origin, go) = (one_at_a_time(&rig, "case"), Origin::ready(), Arc::new(Notify::new()));
    let (asks, gone) = (asks(&cache, "b", origin.gives("no")), go.clone());
    let holder = call(&cache, "a", async move |load| {
        gone.notified().await;
        asks(load).await
    });
    rig.settle().await;
    let waiting = call(&cache, "b", origin.gives("B"));
    rig.settle().await;
    assert_eq!(origin.calls(), 0);
    go.notify_one();
    for caller in [waiting, holder] {
        assert_eq!(text(&at_once(&rig, caller).await), "B");
    }
}

/// As many loads as a `Forebay` lets run without a lease.
const OUTAGE_CONCURRENCY: usize = 64;

pub(crate) async fn a_nested_load_without_a_lease_runs_on_the_permit_of_the_outer(rig: impl Rig) {
    let cache = rig.builder("case").wait(SECOND).load_timeout(LIFE).build().unwrap();
    let ids: Vec<_> = (0..OUTAGE_CONCURRENCY).map(|n| format!("outer {n}")).collect();
    let mut leases = Vec::new();
    for id in ids.iter().map(String::as_str).chain(["nested", "refused"]) {
        leases.push(cache.lookup(id, SECOND).lease(LIFE * 2).await);
    }
    let (go, busy, origin) = (Arc::new(Notify::new()), Origin::paused(), Origin::ready());
    let (asks, gone) = (asks(&cache, "nested", origin.gives("nested")), go.clone());
    let outer = call(&cache, &ids[0], async move |load| {
        gone.notified().await;
        asks(load).await
    });
    let _others: Vec<_> = ids[1..].iter().map(|id| call(&cache, id, busy.gives("outer"))).collect();
    rig.pass(SECOND * 2).await;
    let refused = call(&cache, "refused", origin.gives("no"));
    rig.pass(SECOND * 3).await;
    assert!(matches!(at_once(&rig, refused).await, Err(LoadError::Overloaded)));
    go.notify_one();
    rig.pass(SECOND * 2).await;
    assert_eq!(text(&at_once(&rig, outer).await), "nested");
}

pub(crate) async fn a_load_that_ends_badly_gives_its_permit_back(rig: impl Rig) {
    let builder = rig.builder("case").load_concurrency(1).load_timeout(SECOND * 5);
    let cache = builder.abandoned(Abandoned::Cancel).build().unwrap();
    let panics = async |_| -> Result<String, String> { panic!("the loader's own") };
    call(&cache, "panics", panics).await.unwrap().unwrap_err();
    let leaves = call(&cache, "leaves", Origin::paused().gives("no"));
    rig.settle().await;
    leaves.abort();
    rig.settle().await;
    let hangs = call(&cache, "hangs", Origin::paused().gives("no"));
    rig.pass(SECOND * 5).await;
    at_once(&rig, hangs).await.unwrap_err();
    let caller = call(&cache, "a", Origin::ready().gives("A"));
    assert_eq!(text(&at_once(&rig, caller).await), "A");
}

pub(crate) async fn a_permit_is_lent_only_while_its_lender_waits(rig: impl Rig) {
    let (cache, origin, go) = (one_at_a_time(&rig, "case"), Origin::paused(), Arc::new(Notify::new()));
    let Lookup::Lease(lease) = cache.lookup("b", SECOND).await else { panic!("nobody loads") };
    let waiting = call(&cache, "b", origin.gives("B"));
    let (inner, gone, gives) = (cache.clone(), go.clone(), origin.gives("A"));
    let holder = call(&cache, "a", async move |load| {
        tokio::select! {
            answer = inner.get_or_load("b", Origin::ready().gives("no")) => panic!("answered {answer:?}"),
            () = gone.notified() => gives(load).await,
        }
    });
    rig.settle().await;
    go.notify_one();
    rig.settle().await;
    drop(lease);
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    origin.let_go();
    assert_eq!(text(&at_once(&rig, holder).await), "A");
    assert_eq!(text(&at_once(&rig, waiting).await), "B");
}

// §1.2: what was overtaken before it began ran beside its successor, for a result that is stored nowhere.
pub(crate) async fn a_load_that_is_overtaken_while_it_waits_for_a_permit_leaves_the_key_one_load(
    rig: impl Rig,
) {
    let cache = rig.builder("case").load_concurrency(2).build().unwrap();
    let (holder, origin) = (Origin::paused(), Origin::paused());
    let holders = ["b", "c"].map(|id| call(&cache, id, holder.gives(id)));
    rig.settle().await;
    let overtaken = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    cache.invalidate("a").await;
    let successor = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    holder.let_go();
    holder.let_go();
    for caller in holders {
        at_once(&rig, caller).await.unwrap();
    }
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    for caller in [overtaken, successor] {
        assert_eq!(text(&at_once(&rig, caller).await), "A");
    }
}

// The refresh waits for the permit of a load that waits for the lease of the refresh.
pub(crate) async fn a_refresh_that_waits_for_a_permit_does_not_block_the_permits_holder(rig: impl Rig) {
    let builder = rig.builder("case").load_concurrency(1).stale_for(LIFE).refresh(Refresh::Stale);
    let (cache, origin, go) = (builder.build().unwrap(), Origin::ready(), Arc::new(Notify::new()));
    put_stale(&rig, &cache, "b", "old").await;
    let (inner, gone, gives) = (cache.clone(), go.clone(), origin.gives("new"));
    let holder = call(&cache, "a", async move |_| {
        gone.notified().await;
        let answer = inner.fresh().get_or_load("b", gives).await;
        answer.map(|value| value.to_string()).map_err(|error| format!("{error:?}"))
    });
    rig.settle().await;
    assert_eq!(text(&cache.get_or_load("b", origin.gives("refreshed")).await), "old");
    go.notify_one();
    assert!(["new", "refreshed"].contains(&text(&at_once(&rig, holder).await)));
}

//! Callers that go away: what becomes of the load that nobody waits for, and of the lease that nobody wants.

use std::{convert::Infallible, future::pending};

use forebay::cache::{Abandoned, Cache, Lookup};
use futures::{future::join_all, poll};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    task::JoinHandle,
};

use super::recursion::asks;
use crate::rig::{Origin, Rig, SECOND, at_once, call, text};

/// A cache that cancels what nobody waits for.
fn cancelling(rig: &impl Rig) -> Cache<String> {
    rig.builder("case").abandoned(Abandoned::Cancel).build().expect("the options fit")
}

/// Lets the others take up to seven turns.
async fn turns(dice: &mut StdRng) {
    for _ in 0..dice.random_range(0..8) {
        tokio::task::yield_now().await;
    }
}

// FusionCache #608, C23: clients that went away were logged as failures of the lock.
pub(crate) async fn a_thousand_callers_that_leave_are_counted_and_the_load_is_stored(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers: Vec<_> = (0..1000).map(|_| call(&cache, "a", origin.gives("A"))).collect();
    rig.settle().await;
    callers.iter().for_each(JoinHandle::abort);
    join_all(callers).await;
    origin.let_go();
    rig.settle().await;
    assert_eq!(cache.get("a").await.unwrap().as_str(), "A");
    let stats = cache.stats();
    assert_eq!((stats.cancelled_waits, stats.loads, stats.failures), (1000, 1, 0));
}

pub(crate) async fn a_load_is_cancelled_when_its_last_caller_leaves(rig: impl Rig) {
    let (cache, (held, mut dropped)) = (cancelling(&rig), oneshot::channel::<()>());
    let first = call(&cache, "a", async move |_| {
        let _held = held;
        pending().await
    });
    rig.settle().await;
    let last = call(&cache, "a", Origin::ready().gives("no"));
    rig.settle().await;
    first.abort();
    rig.settle().await;
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    last.abort();
    rig.settle().await;
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Closed));
}

pub(crate) async fn a_cancelled_load_cancels_what_it_alone_waits_for(rig: impl Rig) {
    let (cache, (held, mut dropped)) = (cancelling(&rig), oneshot::channel::<()>());
    let hangs = async move |_| {
        let _held = held;
        pending().await
    };
    let caller = call(&cache, "a", asks(&cache, "b", hangs));
    rig.settle().await;
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    caller.abort();
    rig.settle().await;
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Closed));
}

// spicedb #925, cockroach #91038, C24: the cancellation of one was the failure of all, and was remembered.
pub(crate) async fn a_cancelled_load_leaves_no_trace(rig: impl Rig) {
    let (cache, origin) = (cancelling(&rig), Origin::paused());
    let caller = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    caller.abort();
    rig.settle().await;
    let next = call(&cache, "a", Origin::ready().gives("B"));
    assert_eq!(text(&at_once(&rig, next).await), "B");
    assert_eq!((origin.calls(), cache.stats().load_failures), (1, 0));
}

// C24, pingora #931: a lookup that waits is a caller like any other.
pub(crate) async fn a_load_goes_on_while_a_lookup_waits_for_it(rig: impl Rig) {
    let (cache, origin) = (cancelling(&rig), Origin::paused());
    let caller = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let looks = cache.clone();
    let lookup = tokio::spawn(async move { looks.lookup("a", SECOND).await });
    rig.settle().await;
    caller.abort();
    rig.settle().await;
    origin.let_go();
    let lookup = at_once(&rig, lookup).await;
    assert!(matches!(&lookup, Lookup::Hit(entry) if *entry.value == "A"), "{lookup:?}");
}

// cloudflare/pingora #931: who came while the last one left waited for a load that had just been given up.
pub(crate) async fn who_comes_while_the_last_one_leaves_is_served(rig: impl Rig) {
    let (cache, mut dice) = (cancelling(&rig), StdRng::seed_from_u64(1));
    for round in 0..200 {
        let (id, last) = (round.to_string(), dice.random_range(0..8));
        let slow = move |_| async move {
            for _ in 0..last {
                tokio::task::yield_now().await;
            }
            Ok("A".to_owned())
        };
        let leaver = call(&cache, &id, slow);
        turns(&mut dice).await;
        leaver.abort();
        turns(&mut dice).await;
        let comer = call(&cache, &id, slow);
        assert_eq!(text(&at_once(&rig, comer).await), "A");
    }
}

// rueidis PR 1010, pingora #931, C16, C19: what a cancelled look-up had taken was held until it ended by itself.
pub(crate) async fn a_thousand_lookups_that_vanish_leave_no_lease(rig: impl Rig) {
    let (cache, mut dice) = (rig.cache(), StdRng::seed_from_u64(2));
    for _ in 0..1000 {
        let callers = [(); 2].map(|()| {
            let cache = cache.clone();
            tokio::spawn(async move {
                let _lookup = cache.lookup("a", SECOND).await;
                pending::<()>().await;
            })
        });
        for caller in callers {
            turns(&mut dice).await;
            caller.abort();
        }
    }
    rig.settle().await;
    let lookup = cache.lookup("a", std::time::Duration::ZERO).await;
    assert!(matches!(lookup, Lookup::Lease(_)), "{lookup:?}");
}

// C19 beside callers that load: the look-up that began the flight is not the one that ends it.
pub(crate) async fn loading_callers_beside_lookups_that_vanish_are_served(rig: impl Rig) {
    let (cache, mut dice) = (rig.cache(), StdRng::seed_from_u64(3));
    for round in 0..200 {
        let (id, looks) = (round.to_string(), cache.clone());
        let looked_up = id.clone();
        let lookup = tokio::spawn(async move {
            let _lookup = looks.lookup(looked_up, SECOND).await;
            pending::<()>().await;
        });
        turns(&mut dice).await;
        let caller = call(&cache, &id, Origin::ready().gives("A"));
        turns(&mut dice).await;
        lookup.abort();
        assert_eq!(text(&at_once(&rig, caller).await), "A");
    }
}

// C17, C19: a caller that is not polled keeps the flight, and in it a lease that its own caller left behind.
pub(crate) async fn a_lease_that_nobody_takes_is_given_back_although_a_caller_is_parked(rig: impl Rig) {
    let cache = rig.cache();
    let mut lookup = cache.lookup("a", SECOND).into_future();
    assert!(poll!(&mut lookup).is_pending());
    let mut parked = Box::pin(cache.get_or_load("a", async |_| Ok::<_, Infallible>("A".to_owned())));
    assert!(poll!(parked.as_mut()).is_pending());
    rig.settle().await;
    drop(lookup);
    rig.settle().await;
    let next = cache.lookup("a", std::time::Duration::ZERO).await;
    assert!(matches!(next, Lookup::Lease(_)), "{next:?}");
    drop(next);
    assert_eq!(parked.await.unwrap().as_str(), "A");
}

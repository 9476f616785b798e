//! Callers who load by themselves: leases handed out, waited for, carried away and brought back.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Abandoned, Builder, Cache, Entry, Filled, Lease, Loaded, Lookup, Refresh, Returned, Source},
};
use futures::future::join_all;
use tokio::task::JoinHandle;

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, entry, fill, held, same, text};

pub(crate) const WAIT: Duration = Duration::from_secs(4);
const STALE: Duration = Duration::from_secs(600);

/// Starts a look-up of "a" that waits.
pub(crate) fn look(cache: &Cache<String>) -> JoinHandle<Lookup<String>> {
    let cache = cache.clone();
    tokio::spawn(async move { cache.lookup("a", WAIT).await })
}

/// Looks "a" up without waiting.
pub(crate) async fn ask(cache: &Cache<String>) -> Lookup<String> {
    cache.lookup("a", Duration::ZERO).await
}

pub(crate) fn lease(lookup: Lookup<String>) -> Lease<String> {
    match lookup {
        Lookup::Lease(lease) => lease,
        other => panic!("no lease: {other:?}"),
    }
}

pub(crate) fn hit(lookup: Lookup<String>) -> Entry<String> {
    match lookup {
        Lookup::Hit(entry) => entry,
        other => panic!("no hit: {other:?}"),
    }
}

/// A space whose values are kept past their life.
pub(crate) fn keeping(rig: &impl Rig) -> Builder<String> {
    rig.builder("case").stale_for(STALE)
}

/// A cache in which "a" is stale.
pub(crate) async fn stale(rig: &impl Rig, builder: Builder<String>) -> Cache<String> {
    let cache = builder.build().unwrap();
    cache.put("a", Loaded::new("old".to_owned()).validator("v1")).await.unwrap();
    rig.pass(LIFE).await;
    cache
}

/// A cache in which a value for "a" was a moment ago too large.
async fn unshared(rig: &impl Rig) -> Cache<String> {
    let cache = rig.builder("case").max_bytes(100).build().unwrap();
    let refusal = lease(ask(&cache).await).fill("x".repeat(200)).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::TooLarge);
    cache
}

pub(crate) async fn the_first_gets_the_lease_and_the_others_its_value(rig: impl Rig) {
    let cache = rig.cache();
    let first = lease(ask(&cache).await);
    assert!(first.shared() && first.stale().is_none());
    let others: Vec<_> = (0..10).map(|_| look(&cache)).collect();
    rig.settle().await;
    assert_eq!(first.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    for other in join_all(others).await {
        let entry = hit(other.unwrap());
        assert_eq!((entry.value.as_str(), entry.source), ("A", Source::Coalesced));
    }
}

// C32, Q12: one wake for all, and no poll of each.
pub(crate) async fn a_thousand_who_wait_for_a_fill_wake_at_once(rig: impl Rig) {
    let cache = rig.cache();
    let lookups: Vec<_> = (0..1000).map(|_| look(&cache)).collect();
    rig.settle().await;
    let (mut done, waiting): (Vec<_>, Vec<_>) = lookups.into_iter().partition(JoinHandle::is_finished);
    assert_eq!(done.len(), 1);
    let lease = lease(done.remove(0).await.unwrap());
    assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    rig.settle().await;
    assert!(waiting.iter().all(JoinHandle::is_finished));
    for lookup in join_all(waiting).await {
        assert_eq!(*hit(lookup.unwrap()).value, "A");
    }
}

pub(crate) async fn a_fill_carries_what_is_told_of_the_value(rig: impl Rig) {
    let cache = rig.cache();
    let loaded = Loaded::new("A".to_owned()).validator("v1").time_to_live(SECOND * 7);
    assert_eq!(lease(ask(&cache).await).fill(loaded).await.unwrap(), Filled::Stored);
    let entry = entry(&cache, "a").await;
    assert!(entry.validator.as_deref() == Some("v1") && same(&rig, entry.fresh_for, SECOND * 7), "{entry:?}");
}

pub(crate) async fn who_waits_in_vain_is_told_when_to_ask_again(rig: impl Rig) {
    let cache = rig.cache();
    let _held = lease(cache.lookup("a", WAIT).lease(LIFE).await);
    let waiting = look(&cache);
    rig.pass(WAIT - SECOND).await;
    assert!(!waiting.is_finished());
    rig.pass(SECOND).await;
    let Lookup::Busy { retry_after } = at_once(&rig, waiting).await else { panic!("not busy") };
    assert!(!retry_after.is_zero());
}

pub(crate) async fn who_does_not_wait_is_answered_at_once(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    assert_eq!(held.release().await, Returned::Done);
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

// C16, C19: nothing of a lease stays behind a holder that has gone.
pub(crate) async fn a_dropped_lease_goes_to_the_next(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    let waiting = [look(&cache), look(&cache)];
    rig.settle().await;
    drop(held);
    let leases = || waiting.iter().filter(|lookup| lookup.is_finished()).count();
    for _ in 0..200 {
        if leases() > 0 {
            break;
        }
        rig.settle().await;
    }
    // A second one would have its lease by now.
    rig.settle().await;
    assert_eq!(leases(), 1);
    for lookup in waiting.into_iter().filter(JoinHandle::is_finished) {
        assert_eq!(lease(at_once(&rig, lookup).await).fill("A".to_owned()).await.unwrap(), Filled::Stored);
    }
}

pub(crate) async fn a_released_lease_goes_to_the_next(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.settle().await;
    assert_eq!(held.release().await, Returned::Done);
    rig.settle().await;
    assert!(waiting.is_finished());
    drop(lease(at_once(&rig, waiting).await));
}

pub(crate) async fn a_failure_is_told_to_those_who_wait_and_those_who_come(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.settle().await;
    assert_eq!(held.fail().await, Returned::Done);
    for lookup in [at_once(&rig, waiting).await, ask(&cache).await] {
        let Lookup::Failed { retry_after } = lookup else { panic!("not failed: {lookup:?}") };
        assert!(!retry_after.is_zero() && retry_after <= SECOND, "{retry_after:?}");
    }
    rig.pass(SECOND).await;
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

pub(crate) async fn after_a_failure_the_stale_value_is_a_hit(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let held = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.settle().await;
    assert_eq!(held.fail().await, Returned::Done);
    for lookup in [at_once(&rig, waiting).await, ask(&cache).await] {
        let entry = hit(lookup);
        assert!(entry.is_stale() && *entry.value == "old");
    }
}

pub(crate) async fn a_token_carries_the_lease_elsewhere(rig: impl Rig) {
    let cache = rig.cache();
    let text = lease(ask(&cache).await).into_token().to_string();
    rig.settle().await;
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    let resumed = cache.resume("a", text.parse().unwrap());
    assert_eq!(resumed.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn a_resumed_lease_is_not_given_back_when_dropped(rig: impl Rig) {
    let cache = rig.cache();
    let token = lease(ask(&cache).await).into_token();
    drop(cache.resume("a", token));
    rig.settle().await;
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    assert_eq!(cache.resume("a", token).release().await, Returned::Done);
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

pub(crate) async fn a_token_fills_once_and_for_its_id_alone(rig: impl Rig) {
    let cache = rig.cache();
    let token = lease(ask(&cache).await).into_token();
    assert_eq!(cache.resume("b", token).fill("B".to_owned()).await.unwrap(), Filled::Lost);
    assert_eq!(cache.resume("a", token).fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(cache.resume("a", token).fill("again".to_owned()).await.unwrap(), Filled::Lost);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

// C57: as long as the note stands, each loads for himself and nobody waits for another.
pub(crate) async fn after_a_value_that_is_too_large_everybody_gets_a_lease(rig: impl Rig) {
    let cache = unshared(&rig).await;
    let leases = [lease(ask(&cache).await), lease(ask(&cache).await)];
    for lease in leases {
        assert!(!lease.shared());
        assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Unshared);
    }
    assert_eq!(held(&cache, "a").await, None);
    rig.pass(SECOND).await;
    assert!(lease(ask(&cache).await).shared());
}

pub(crate) async fn those_who_waited_for_a_value_that_is_too_large_get_leases(rig: impl Rig) {
    let cache = rig.builder("case").max_bytes(100).build().unwrap();
    let first = lease(ask(&cache).await);
    let waiting: Vec<_> = (0..5).map(|_| look(&cache)).collect();
    rig.settle().await;
    first.fill("x".repeat(200)).await.unwrap_err();
    for lookup in join_all(waiting).await {
        assert!(!lease(lookup.unwrap()).shared());
    }
}

pub(crate) async fn an_unshared_lease_can_be_carried_too(rig: impl Rig) {
    let cache = unshared(&rig).await;
    let text = lease(ask(&cache).await).into_token().to_string();
    let resumed = cache.resume("a", text.parse().unwrap());
    assert!(!resumed.shared());
    assert_eq!(resumed.fill("A".to_owned()).await.unwrap(), Filled::Unshared);
}

pub(crate) async fn an_unshared_lease_ends_without_a_trace(rig: impl Rig) {
    let cache = unshared(&rig).await;
    drop(lease(ask(&cache).await));
    assert_eq!(lease(ask(&cache).await).fail().await, Returned::Done);
    assert_eq!(lease(ask(&cache).await).renew(LIFE).await, Returned::Done);
    rig.settle().await;
    assert!(!lease(ask(&cache).await).shared());
    rig.pass(SECOND).await;
    assert!(lease(ask(&cache).await).shared());
}

pub(crate) async fn a_loading_caller_is_served_by_the_fill_of_a_lease(rig: impl Rig) {
    let (cache, unused) = (rig.cache(), Origin::ready());
    let held = lease(ask(&cache).await);
    let caller = call(&cache, "a", unused.gives("mine"));
    rig.settle().await;
    assert_eq!(held.fill("theirs".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!((text(&at_once(&rig, caller).await), unused.calls()), ("theirs", 0));
}

pub(crate) async fn a_loading_caller_takes_over_from_a_dropped_lease(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    let caller = call(&cache, "a", Origin::ready().gives("mine"));
    rig.settle().await;
    drop(held);
    assert_eq!(text(&at_once(&rig, caller).await), "mine");
}

pub(crate) async fn a_lookup_waits_for_a_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let caller = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let waiting = look(&cache);
    rig.settle().await;
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "A");
    let entry = hit(at_once(&rig, waiting).await);
    assert_eq!((entry.value.as_str(), entry.source), ("A", Source::Coalesced));
}

pub(crate) async fn a_lookup_hears_of_a_failed_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let caller = call(&cache, "a", origin.fails("down"));
    rig.settle().await;
    let waiting = look(&cache);
    rig.settle().await;
    origin.let_go();
    assert!(at_once(&rig, caller).await.is_err());
    assert!(matches!(at_once(&rig, waiting).await, Lookup::Failed { .. }));
}

pub(crate) async fn a_lookup_gets_the_lease_of_a_load_that_was_cancelled(rig: impl Rig) {
    let cache = rig.builder("case").abandoned(Abandoned::Cancel).build().unwrap();
    let caller = call(&cache, "a", Origin::paused().gives("A"));
    rig.settle().await;
    caller.abort();
    rig.settle().await;
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

// Q6: what two callers of one flight need is not the same, and each gets it.
pub(crate) async fn a_load_and_a_lookup_that_begin_together_make_one_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let (lookup, caller) = (look(&cache), call(&cache, "a", origin.gives("mine")));
    rig.settle().await;
    let held = lease(at_once(&rig, lookup).await);
    assert_eq!(held.fill("theirs".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!((text(&at_once(&rig, caller).await), origin.calls()), ("theirs", 0));
}

pub(crate) async fn an_absence_is_told_to_those_who_wait(rig: impl Rig) {
    let cache = rig.builder("case").absent_for(SECOND).build().unwrap();
    let held = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.settle().await;
    assert_eq!(held.absent().await.unwrap(), Filled::Stored);
    assert!(matches!(at_once(&rig, waiting).await, Lookup::Absent));
    assert!(matches!(ask(&cache).await, Lookup::Absent));
    rig.pass(SECOND).await;
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

pub(crate) async fn an_absence_without_a_life_gives_the_lease_back(rig: impl Rig) {
    let cache = rig.cache();
    assert!(lease(ask(&cache).await).absent().await.is_err());
    rig.settle().await;
    assert!(lease(ask(&cache).await).absent_for(Duration::ZERO).await.is_err());
    rig.settle().await;
    assert_eq!(lease(ask(&cache).await).absent_for(SECOND).await.unwrap(), Filled::Stored);
    assert!(matches!(ask(&cache).await, Lookup::Absent));
}

pub(crate) async fn a_holder_is_given_the_stale_value(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let held = lease(ask(&cache).await);
    let stale = held.stale().unwrap();
    assert_eq!((stale.value.as_str(), stale.validator.as_deref()), ("old", Some("v1")));
    assert!(stale.is_stale());
}

// C28: with a stale value to hand out nobody waits, not even by lookup.
pub(crate) async fn one_refreshes_and_the_others_hit_the_stale_value(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig).refresh(Refresh::Stale)).await;
    let lookups: Vec<_> = (0..10).map(|_| look(&cache)).collect();
    let mut leases = Vec::new();
    for lookup in lookups {
        match at_once(&rig, lookup).await {
            Lookup::Lease(lease) => leases.push(lease),
            other => assert!(hit(other).is_stale()),
        }
    }
    assert!(matches!(leases.as_slice(), [lease] if lease.stale().is_some()), "{leases:?}");
}

pub(crate) async fn where_stale_values_are_for_failures_the_others_wait(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let held = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.pass(SECOND).await;
    assert!(!waiting.is_finished());
    assert_eq!(held.fill("new".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(*hit(at_once(&rig, waiting).await).value, "new");
}

pub(crate) async fn who_waits_in_vain_gets_the_stale_value(rig: impl Rig) {
    let cache = stale(&rig, keeping(&rig)).await;
    let _held = lease(cache.lookup("a", WAIT).lease(LIFE).await);
    let waiting = look(&cache);
    rig.pass(WAIT).await;
    assert!(hit(at_once(&rig, waiting).await).is_stale());
}

pub(crate) async fn a_fresh_lookup_passes_over_a_fresh_entry(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    assert_eq!(*hit(ask(&cache).await).value, "old");
    let held = lease(cache.fresh().lookup("a", Duration::ZERO).await);
    assert_eq!(held.fill("new".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(*hit(ask(&cache).await).value, "new");
}

pub(crate) async fn a_fresh_lookup_waits_for_a_lease_and_takes_it(rig: impl Rig) {
    let cache = rig.cache();
    let held = lease(ask(&cache).await);
    let waiter = cache.clone();
    let waiting = tokio::spawn(async move { waiter.fresh().lookup("a", WAIT).await });
    rig.settle().await;
    assert_eq!(held.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert!(matches!(at_once(&rig, waiting).await, Lookup::Lease(_)));
}

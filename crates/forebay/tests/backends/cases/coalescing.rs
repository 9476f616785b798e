//! One load for all who ask, and what becomes of it when some of them leave.

use forebay::cache::{Filled, LoadError, Lookup, Refresh};
use futures::{future::join_all, poll};

use crate::rig::{LIFE, Origin, Rig, SECOND, at_once, call, put_stale, text};

pub(crate) async fn a_thousand_callers_make_one_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers: Vec<_> = (0..1000).map(|_| call(&cache, "a", origin.gives("A"))).collect();
    rig.settle().await;
    origin.let_go();
    for answer in join_all(callers).await {
        assert_eq!(text(&answer.unwrap()), "A");
    }
    assert_eq!(origin.calls(), 1);
    assert_eq!(cache.stats().coalesced, 999);
}

// pingora #931, newchat #16, Q6, Q13: the first caller's leaving ended, failed or repeated the load of all.
pub(crate) async fn a_caller_that_leaves_harms_nobody(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let first = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let others: Vec<_> = (0..50).map(|_| call(&cache, "a", origin.gives("B"))).collect();
    rig.settle().await;
    first.abort();
    rig.settle().await;
    origin.let_go();
    for answer in join_all(others).await {
        assert_eq!(text(&answer.unwrap()), "A");
    }
    assert_eq!((origin.calls(), cache.stats().cancelled_waits), (1, 1));
}

// hitbox Q1: the leader lost a race of its own caller's, and its one waiter never returned.
pub(crate) async fn a_caller_that_loses_a_select_harms_nobody(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    tokio::select! {
        biased;
        answer = cache.get_or_load("a", origin.gives("A")) => panic!("answered {answer:?}"),
        () = rig.settle() => {}
    }
    let other = call(&cache, "a", origin.gives("B"));
    rig.settle().await;
    origin.let_go();
    assert_eq!(text(&at_once(&rig, other).await), "A");
    assert_eq!(origin.calls(), 1);
}

// moka #240, C17: the leader's future drove the load, so that nobody had an answer while it was not polled.
pub(crate) async fn a_leader_that_is_not_polled_blocks_nobody(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let mut parked = Box::pin(cache.get_or_load("a", origin.gives("A")));
    assert!(poll!(parked.as_mut()).is_pending());
    let other = call(&cache, "a", origin.gives("B"));
    assert_eq!(text(&at_once(&rig, other).await), "A");
    cache.invalidate("a").await;
    let next = call(&cache, "a", origin.gives("C"));
    assert_eq!(text(&at_once(&rig, next).await), "C");
    assert_eq!(text(&parked.await), "A");
}

pub(crate) async fn a_caller_that_comes_during_the_load_is_served_by_it(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let early = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    let late = call(&cache, "a", origin.gives("B"));
    rig.settle().await;
    origin.let_go();
    assert_eq!(text(&at_once(&rig, early).await), "A");
    assert_eq!(text(&at_once(&rig, late).await), "A");
    assert_eq!((origin.calls(), cache.stats().coalesced), (1, 1));
}

pub(crate) async fn two_ids_load_side_by_side(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers = ["a", "b"].map(|id| call(&cache, id, origin.gives(id)));
    rig.settle().await;
    assert_eq!(origin.calls(), 2);
    origin.let_go();
    origin.let_go();
    for (caller, id) in callers.into_iter().zip(["a", "b"]) {
        assert_eq!(text(&at_once(&rig, caller).await), id);
    }
}

pub(crate) async fn spaces_share_neither_loads_nor_values(rig: impl Rig) {
    let [first, second] = ["first", "second"].map(|space| rig.builder(space).build().unwrap());
    let origin = Origin::paused();
    let callers = [call(&first, "a", origin.gives("A")), call(&second, "a", origin.gives("B"))];
    rig.settle().await;
    assert_eq!(origin.calls(), 2);
    origin.let_go();
    origin.let_go();
    for (caller, value) in callers.into_iter().zip(["A", "B"]) {
        assert_eq!(text(&at_once(&rig, caller).await), value);
    }
    assert_eq!(second.get("a").await.unwrap().as_str(), "B");
}

pub(crate) async fn callers_of_other_error_types_share_the_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let first = call(&cache, "a", origin.fails("no"));
    rig.settle().await;
    let (other, numbers) = (cache.clone(), origin.answers::<Result<String, u32>>(Err(7)));
    let other = tokio::spawn(async move { other.get_or_load("a", numbers).await });
    rig.settle().await;
    origin.let_go();
    let first = at_once(&rig, first).await;
    assert!(matches!(&first, Err(LoadError::Failed(error)) if **error == "no"), "{first:?}");
    let other = at_once(&rig, other).await;
    assert!(
        matches!(other, Err(LoadError::FailedElsewhere { retry_after }) if retry_after <= SECOND),
        "{other:?}"
    );
    assert_eq!(origin.calls(), 1);
}

// hitbox #214, #209, #210, BentoCache #103, C27, C28: hits on a stale value refreshed it again and again, or
// waited for its refresh.
pub(crate) async fn ten_thousand_stale_hits_make_one_refresh_and_wait_for_none(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    let origin = Origin::paused();
    put_stale(&rig, &cache, "a", "old").await;
    let callers: Vec<_> = (0..10_000).map(|_| call(&cache, "a", origin.gives("new"))).collect();
    let callers = tokio::spawn(join_all(callers));
    for answer in at_once(&rig, callers).await {
        assert_eq!(text(&answer.unwrap()), "old");
    }
    assert_eq!((origin.calls(), cache.stats().stale_hits), (1, 10_000));
    origin.let_go();
    rig.settle().await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("newer")).await), "new");
    assert_eq!(origin.calls(), 1);
}

// cachified #144, C29: a value that ended while its refresh ran was loaded beside it, or never answered.
pub(crate) async fn who_finds_nothing_any_more_waits_for_the_refresh_that_runs(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).load_timeout(LIFE * 2);
    let (cache, origin) = (cache.build().unwrap(), Origin::paused());
    put_stale(&rig, &cache, "a", "old").await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    rig.pass(LIFE).await;
    let callers: Vec<_> = (0..10).map(|_| call(&cache, "a", origin.gives("other"))).collect();
    rig.settle().await;
    origin.let_go();
    for answer in at_once(&rig, tokio::spawn(join_all(callers))).await {
        assert_eq!(text(&answer.unwrap()), "new");
    }
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_get_neither_loads_nor_waits_for_a_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    assert!(cache.get("a").await.is_none());
    let caller = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let reader = cache.clone();
    let reader = tokio::spawn(async move { reader.get("a").await });
    assert!(at_once(&rig, reader).await.is_none());
    origin.let_go();
    at_once(&rig, caller).await.unwrap();
    assert_eq!(cache.get("a").await.unwrap().as_str(), "A");
}

// aiocache, Q11: when the wait for somebody's lease was over, every waiter loaded.
pub(crate) async fn when_the_wait_is_over_one_load_serves_all_and_is_not_stored(rig: impl Rig) {
    let (cache, origin) = (rig.builder("case").wait(SECOND * 2).build().unwrap(), Origin::ready());
    let Lookup::Lease(lease) = cache.lookup("a", SECOND).lease(LIFE).await else { panic!("nobody loads") };
    let callers: Vec<_> = (0..100).map(|_| call(&cache, "a", origin.gives("alone"))).collect();
    rig.pass(SECOND).await;
    assert_eq!(origin.calls(), 0);
    rig.pass(SECOND * 2).await;
    for answer in at_once(&rig, tokio::spawn(join_all(callers))).await {
        assert_eq!(text(&answer.unwrap()), "alone");
    }
    assert_eq!(origin.calls(), 1);
    assert!(cache.get("a").await.is_none());
    assert_eq!(lease.fill("lease's".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(cache.get("a").await.unwrap().as_str(), "lease's");
}

// CacheTower #281, C20: who began to wait just after the leader had told everybody waited for ever.
pub(crate) async fn whoever_comes_around_the_end_of_a_load_is_served(rig: impl Rig) {
    let cache = rig.cache();
    for turns in 0..60 {
        let (id, origin) = (turns.to_string(), Origin::paused());
        let first = call(&cache, &id, origin.gives("A"));
        rig.settle().await;
        origin.let_go();
        for _ in 0..turns % 30 {
            tokio::task::yield_now().await;
        }
        let late = call(&cache, &id, Origin::ready().gives("B"));
        assert_eq!(text(&at_once(&rig, first).await), "A");
        assert_eq!(text(&at_once(&rig, late).await), "A");
    }
}

// cached #174, C26: the second call after the value had ended waited for itself.
pub(crate) async fn what_has_ended_is_loaded_again(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    for round in 1..=3 {
        let caller = call(&cache, "a", origin.gives("A"));
        assert_eq!(text(&at_once(&rig, caller).await), "A");
        assert_eq!(origin.calls(), round);
        rig.pass(LIFE).await;
    }
}

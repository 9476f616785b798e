//! During a roll-out two neighbouring versions of a space run together: what one deletes the other does not serve.

use std::time::Duration;

use forebay::cache::{Cache, Filled, Lookup, Put};

use crate::rig::{
    CLOCK, LIFE, Origin, Process, Rig, done, entry, fill, held, invalidate, remember, served_for,
};

fn of_version(process: &Process, version: u32) -> Cache<String> {
    process.builder().version(version).stale_for(LIFE).build().unwrap()
}

/// What version 2 and version 3 do to each other; with how long the other may serve what is old.
async fn both_ways(test: impl AsyncFn(&Cache<String>, &Cache<String>, Duration)) {
    for (one, other) in [(2, 3), (3, 2)] {
        let rig = Rig::new();
        let [here, there] = rig.open().await;
        let bound = there.status().staleness_bound;
        test(&of_version(&here, one), &of_version(&there, other), bound).await;
    }
}

/// The neighbour's value is neither in its memory nor in the store.
async fn is_gone(cache: &Cache<String>, id: &str, bound: Duration) {
    let took = served_for(cache, id, "theirs", CLOCK.now()).await;
    assert!(took <= bound, "{took:?}");
    assert_eq!(held(cache, id).await, None);
}

// An invalidate reaches the neighbouring versions.
#[tokio::test]
async fn what_one_version_invalidates_the_other_does_not_serve() {
    both_ways(async |one, other, bound| {
        remember(other, "a", "theirs").await;
        remember(one, "a", "ours").await;
        assert_eq!(
            (held(one, "a").await, held(other, "a").await),
            (Some("ours".into()), Some("theirs".into()))
        );
        invalidate(one, "a").await;
        is_gone(other, "a", bound).await;
        assert_eq!(held(one, "a").await, None);
    })
    .await;
}

// So does a put.
#[tokio::test]
async fn what_one_version_puts_the_other_does_not_serve() {
    both_ways(async |one, other, bound| {
        remember(other, "a", "theirs").await;
        assert_eq!(one.put("a", "ours".to_owned()).await.unwrap(), Put::Stored);
        is_gone(other, "a", bound).await;
        assert_eq!(held(one, "a").await.as_deref(), Some("ours"));
    })
    .await;
}

// What one version expires has its stale life in the other, too: whoever loads there loads anew.
#[tokio::test]
async fn what_one_version_expires_the_other_loads_anew() {
    both_ways(async |one, other, _| {
        remember(other, "a", "theirs").await;
        one.expire("a").await;
        served_for(other, "a", "theirs", CLOCK.now()).await;
        let origin = Origin::ready();
        assert_eq!(*origin.call(other, "a", Ok("newer")).await.unwrap().unwrap(), "newer");
        assert_eq!(origin.calls(), 1);
    })
    .await;
}

// The fence, too, holds between neighbours.
#[tokio::test]
async fn what_one_version_invalidates_the_other_does_not_store_afterwards() {
    both_ways(async |one, other, _| {
        let Lookup::Lease(lease) = other.lookup("a", LIFE).await else { panic!("somebody else loads") };
        invalidate(one, "a").await;
        assert_eq!(lease.fill("theirs".to_owned()).await.unwrap(), Filled::Lost);
        assert_eq!(held(other, "a").await, None);
    })
    .await;
}

// Two versions run at a time during a roll-out, not three.
#[tokio::test]
async fn versions_that_are_no_neighbours_leave_each_others_values_alone() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (first, third) = (of_version(&here, 1), of_version(&there, 3));
    for (one, other) in [(&first, &third), (&third, &first)] {
        fill(other, "a", "theirs").await;
        invalidate(one, "a").await;
        one.expire("a").await;
        assert_eq!(one.put("a", "ours".to_owned()).await.unwrap(), Put::Stored);
        assert_eq!(held(other, "a").await.as_deref(), Some("theirs"));
        assert!(!entry(other, "a").await.unwrap().is_stale());
        invalidate(other, "a").await;
        assert_eq!(held(one, "a").await.as_deref(), Some("ours"));
        invalidate(one, "a").await;
    }
}

#[tokio::test]
async fn versions_load_side_by_side() {
    let rig = Rig::new();
    let [here, there] = rig.open().await;
    let (old, new, origin) = (of_version(&here, 2), of_version(&there, 3), Origin::taking(50));
    let loads = [origin.call(&old, "a", Ok("old")), origin.call(&new, "a", Ok("new"))];
    let [of_old, of_new] = loads.map(done);
    assert_eq!(*of_old.await.unwrap().unwrap(), "old");
    assert_eq!(*of_new.await.unwrap().unwrap(), "new");
    assert_eq!(origin.calls(), 2);
}

//! Leases that are lost, and how they are kept.

use forebay::cache::{Cache, Filled, Loaded, Lookup, Returned};

use super::leases::{WAIT, ask, lease, look};
use crate::rig::{Rig, SECOND, at_once, held};

/// Fills a lease for "a" that `change` has come in between of.
async fn fill_late<T>(cache: &Cache<String>, change: impl Future<Output = T>) {
    let held = lease(ask(cache).await);
    change.await;
    assert_eq!(held.fill("loaded".to_owned()).await.unwrap(), Filled::Lost);
}

// Q2, Q5, Q7, C2: a load outside the cache is overtaken like one inside.
pub(crate) async fn an_invalidate_takes_the_lease_away(rig: impl Rig) {
    let cache = rig.cache();
    fill_late(&cache, cache.invalidate("a")).await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn an_expire_takes_the_lease_away(rig: impl Rig) {
    let cache = rig.cache();
    fill_late(&cache, cache.expire("a")).await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn a_put_takes_the_lease_away_and_stays(rig: impl Rig) {
    let cache = rig.cache();
    fill_late(&cache, cache.put("a", "put".to_owned())).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("put"));
}

fn unstored() -> Loaded<String> {
    Loaded::new("A".to_owned()).do_not_store()
}

pub(crate) async fn a_lease_that_was_taken_away_is_lost_for_every_purpose(rig: impl Rig) {
    let cache = rig.builder("case").absent_for(SECOND).build().unwrap();
    for end in 0..5 {
        let mut held = lease(ask(&cache).await);
        cache.invalidate("a").await;
        match end {
            0 => assert_eq!(held.absent().await.unwrap(), Filled::Lost),
            1 => assert_eq!(held.fail().await, Returned::Lost),
            2 => assert_eq!(held.release().await, Returned::Lost),
            3 => assert_eq!(held.renew(SECOND).await, Returned::Lost),
            _ => assert_eq!(held.fill(unstored()).await.unwrap(), Filled::Lost),
        }
    }
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

pub(crate) async fn an_invalidate_hands_the_lease_to_the_next(rig: impl Rig) {
    let cache = rig.cache();
    let lost = lease(ask(&cache).await);
    let waiting = look(&cache);
    rig.settle().await;
    cache.invalidate("a").await;
    let held = lease(at_once(&rig, waiting).await);
    assert_eq!(lost.fill("old".to_owned()).await.unwrap(), Filled::Lost);
    assert_eq!(held.fill("new".to_owned()).await.unwrap(), Filled::Stored);
}

// C30, Q14, Q15: who comes late stores nothing and takes no one's lease away.
pub(crate) async fn a_lease_that_ran_out_is_lost(rig: impl Rig) {
    let cache = rig.cache();
    let late = lease(cache.lookup("a", WAIT).lease(SECOND).await);
    assert_eq!(late.life(), SECOND);
    rig.pass(SECOND).await;
    let next = lease(ask(&cache).await);
    assert_eq!(late.fill("late".to_owned()).await.unwrap(), Filled::Lost);
    assert_eq!(next.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn a_lease_that_ran_out_goes_to_one_who_waits(rig: impl Rig) {
    let cache = rig.cache();
    let _gone = lease(cache.lookup("a", WAIT).lease(SECOND).await);
    let waiting = look(&cache);
    rig.pass(SECOND * 2).await;
    assert!(waiting.is_finished());
    assert!(matches!(at_once(&rig, waiting).await, Lookup::Lease(_)));
}

// C30: a lease that is dropped after its end is not taken from who has it now.
pub(crate) async fn dropping_a_lease_that_ran_out_takes_nothing_away(rig: impl Rig) {
    let cache = rig.cache();
    let late = lease(cache.lookup("a", WAIT).lease(SECOND).await);
    rig.pass(SECOND).await;
    let next = lease(ask(&cache).await);
    drop(late);
    rig.settle().await;
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    assert_eq!(next.fill("A".to_owned()).await.unwrap(), Filled::Stored);
}

pub(crate) async fn renewing_keeps_the_lease(rig: impl Rig) {
    let cache = rig.cache();
    let mut held = lease(cache.lookup("a", WAIT).lease(SECOND).await);
    for _ in 0..5 {
        rig.pass(SECOND / 2).await;
        assert_eq!(held.renew(SECOND).await, Returned::Done);
    }
    assert!(matches!(ask(&cache).await, Lookup::Busy { .. }));
    assert_eq!(held.fill("A".to_owned()).await.unwrap(), Filled::Stored);
}

// L14, L29: renewing what has ended gets nothing back.
pub(crate) async fn renewing_a_lost_lease_revives_nothing(rig: impl Rig) {
    let cache = rig.cache();
    let mut late = lease(cache.lookup("a", WAIT).lease(SECOND).await);
    rig.pass(SECOND).await;
    assert_eq!(late.renew(SECOND).await, Returned::Lost);
    assert_eq!(late.fill("late".to_owned()).await.unwrap(), Filled::Lost);
    assert!(matches!(ask(&cache).await, Lookup::Lease(_)));
}

// A holder that renews without saying for how long must not lose what it asked for at first.
pub(crate) async fn renewing_never_shortens_a_lease(rig: impl Rig) {
    let cache = rig.cache();
    let mut held = lease(cache.lookup("a", WAIT).lease(SECOND * 30).await);
    assert_eq!(held.renew(SECOND).await, Returned::Done);
    rig.pass(SECOND * 20).await;
    assert_eq!(held.fill("A".to_owned()).await.unwrap(), Filled::Stored);
}

//! Invalidate, put and expire: against loads, reads and refreshes that are under way, and by themselves.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Cache, Invalidated, Load, LoadError, Loaded, Lookup, Put, Refresh, Source},
};
use futures::FutureExt;
use tokio::{runtime::Handle, task::JoinHandle};

use crate::{
    rig::{LIFE, Origin, Rig, SECOND, at_once, call, entry, fill, held, same, text},
    whim::Whim,
};

const STALE: Duration = Duration::from_secs(600);

/// A cache whose values are kept past their life.
fn keeping(rig: &impl Rig) -> Cache<String> {
    rig.builder("case").stale_for(STALE).build().unwrap()
}

/// A cache with process memory, and one without.
fn with_and_without_memory(rig: &impl Rig) -> [Cache<String>; 2] {
    let without = rig.builder("case:store").local_time_to_live(Duration::ZERO);
    [rig.cache(), without.build().unwrap()]
}

/// Has "old" loaded, while `change` happens; the caller from before gets it.
async fn load_around(rig: &impl Rig, cache: &Cache<String>, change: impl Future) {
    let origin = Origin::paused();
    let before = call(cache, "a", origin.gives("old"));
    rig.settle().await;
    change.await;
    origin.let_go();
    assert_eq!(text(&at_once(rig, before).await), "old");
    rig.settle().await;
}

/// Starts a read of "a" that has its bytes from the store and is about to make a value of them.
async fn read_slowly(rig: &impl Rig, cache: &Cache<String>, whim: &Whim) -> JoinHandle<Option<String>> {
    whim.stops_reading();
    let cache = cache.clone();
    let reader = tokio::task::spawn_blocking(move || Handle::current().block_on(held(&cache, "a")));
    while !whim.is_reading() {
        rig.settle().await;
    }
    reader
}

// Q2, Q4, Q5, Q7, Q13, Q14, C2: moka, foyer, bentocache, cashews and dogpile keep the deleted value.
pub(crate) async fn an_invalidate_during_a_load_keeps_its_value_out(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        load_around(&rig, &cache, cache.invalidate("a")).await;
        assert_eq!(held(&cache, "a").await, None);
        assert_eq!((cache.stats().fills, cache.stats().refused_fills), (0, 1));
    }
}

pub(crate) async fn an_expire_during_a_load_keeps_its_value_out(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        load_around(&rig, &cache, cache.expire("a")).await;
        assert_eq!(held(&cache, "a").await, None);
    }
}

// Q2, Q5, C12: moka and foyer end with the loaded value in place of the explicit one.
pub(crate) async fn a_put_during_a_load_stays(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        load_around(&rig, &cache, cache.put("a", "put".to_owned())).await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("put"));
        assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("loaded")).await), "put");
    }
}

// Q13: the put of an absence is a put like any other.
pub(crate) async fn a_put_of_an_absence_during_a_load_stays(rig: impl Rig) {
    let cache = rig.builder("case").absent_for(SECOND).build().unwrap();
    load_around(&rig, &cache, cache.put_absent("a")).await;
    assert_eq!(cache.find_or_load("a", Origin::ready().finds(Some("loaded"))).await.unwrap(), None);
}

// Q2, Q5, C2: read-your-delete, while the load from before still runs.
pub(crate) async fn a_caller_after_an_invalidate_loads_anew(rig: impl Rig) {
    for cache in with_and_without_memory(&rig) {
        let old = Origin::paused();
        let before = call(&cache, "a", old.gives("old"));
        rig.settle().await;
        cache.invalidate("a").await;
        fill(&cache, "a", "new").await;
        old.let_go();
        assert_eq!(text(&at_once(&rig, before).await), "old");
        rig.settle().await;
        assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
    }
}

pub(crate) async fn a_caller_after_an_expire_loads_anew(rig: impl Rig) {
    let (cache, old) = (rig.cache(), Origin::paused());
    let before = call(&cache, "a", old.gives("old"));
    rig.settle().await;
    cache.expire("a").await;
    fill(&cache, "a", "new").await;
    old.let_go();
    assert_eq!(text(&at_once(&rig, before).await), "old");
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn a_caller_after_a_put_gets_what_was_put(rig: impl Rig) {
    let (cache, old, unused) = (rig.cache(), Origin::paused(), Origin::ready());
    let before = call(&cache, "a", old.gives("old"));
    rig.settle().await;
    assert_eq!(cache.put("a", "put".to_owned()).await.unwrap(), Put::Stored);
    assert_eq!(text(&cache.get_or_load("a", unused.gives("new")).await), "put");
    old.let_go();
    assert_eq!(text(&at_once(&rig, before).await), "old");
    assert_eq!(unused.calls(), 0);
}

// C2: who joins a load that has begun is served only if nothing has overtaken it.
pub(crate) async fn a_caller_that_joined_an_overtaken_load_takes_the_next(rig: impl Rig) {
    let (cache, old, new) = (rig.cache(), Origin::paused(), Origin::ready());
    let before = call(&cache, "a", old.gives("old"));
    rig.settle().await;
    let during: Vec<_> = (0..10).map(|_| call(&cache, "a", new.gives("new"))).collect();
    rig.settle().await;
    cache.invalidate("a").await;
    for caller in during {
        assert_eq!(text(&at_once(&rig, caller).await), "new");
    }
    old.let_go();
    assert_eq!((text(&at_once(&rig, before).await), new.calls()), ("old", 1));
}

// C10, C12, C15: what was read before the invalidate and decoded after it stays out of process memory.
pub(crate) async fn an_invalidate_during_a_read_keeps_the_value_out_of_memory(rig: impl Rig) {
    let whim = Whim::default();
    let cache = rig.builder("case").codec(whim.clone()).build().unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    let reader = read_slowly(&rig, &cache, &whim).await;
    cache.invalidate("a").await;
    whim.reads_on();
    assert_eq!(reader.await.unwrap().as_deref(), Some("old"));
    assert_eq!(held(&cache, "a").await, None);
}

// C10, C12: the same for what a put replaces.
pub(crate) async fn a_put_during_a_read_keeps_the_old_value_out_of_memory(rig: impl Rig) {
    let whim = Whim::default();
    let cache = rig.builder("case").codec(whim.clone()).build().unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    let reader = read_slowly(&rig, &cache, &whim).await;
    cache.put("a", "new".to_owned()).await.unwrap();
    whim.reads_on();
    reader.await.unwrap();
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

// C1: an eager refresh that an invalidate overtakes is stored nowhere.
pub(crate) async fn an_invalidate_during_a_refresh_keeps_its_value_out(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(STALE).refresh(Refresh::Stale).build().unwrap();
    let origin = Origin::paused();
    fill(&cache, "a", "stale").await;
    rig.pass(LIFE).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("refreshed")).await), "stale");
    rig.settle().await;
    cache.invalidate("a").await;
    origin.let_go();
    rig.settle().await;
    assert_eq!((origin.calls(), held(&cache, "a").await), (1, None));
}

pub(crate) async fn an_expire_during_a_refresh_makes_way_for_another(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(STALE).refresh(Refresh::Stale).build().unwrap();
    let origin = Origin::paused();
    fill(&cache, "a", "stale").await;
    rig.pass(LIFE).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("overtaken")).await), "stale");
    rig.settle().await;
    cache.expire("a").await;
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("new")).await), "stale");
    rig.settle().await;
    origin.let_go();
    rig.settle().await;
    assert_eq!((origin.calls(), held(&cache, "a").await.as_deref()), (1, Some("new")));
}

// C4: what was invalidated is no fallback either.
pub(crate) async fn an_invalidated_value_is_no_fallback(rig: impl Rig) {
    let cache = keeping(&rig);
    fill(&cache, "a", "old").await;
    rig.pass(LIFE).await;
    cache.invalidate("a").await;
    let answer = cache.get_or_load("a", Origin::ready().fails("down")).await;
    assert!(matches!(answer, Err(LoadError::Failed(_))), "{answer:?}");
}

// C6: nor is it what "not modified" refers to, for a load that begins after the invalidate.
pub(crate) async fn an_invalidated_value_is_not_offered_as_unmodified(rig: impl Rig) {
    let cache = keeping(&rig);
    fill(&cache, "a", "old").await;
    rig.pass(LIFE).await;
    let Lookup::Lease(lease) = cache.lookup("a", Duration::ZERO).await else { panic!("the id is free") };
    let waiter = call(&cache, "a", async |load: Load<String>| {
        Ok(load.stale().map_or("nothing", |stale| stale.as_str()).to_owned())
    });
    rig.settle().await;
    cache.invalidate("a").await;
    rig.settle().await;
    assert_eq!(text(&at_once(&rig, waiter).await), "nothing");
    drop(lease);
}

pub(crate) async fn an_invalidate_of_several_forgets_each(rig: impl Rig) {
    let cache = rig.cache();
    for id in ["a", "b", "c"] {
        fill(&cache, id, id).await;
    }
    let done = cache.invalidate_many(["a", "b"]).await;
    assert_eq!(done, Invalidated::Everywhere);
    let left = [held(&cache, "a").await, held(&cache, "b").await, held(&cache, "c").await];
    assert_eq!(left, [None, None, Some("c".to_owned())]);
}

pub(crate) async fn an_invalidate_of_several_overtakes_every_load(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let before = ["a", "b"].map(|id| call(&cache, id, origin.gives("old")));
    rig.settle().await;
    cache.invalidate_many(["a", "b"]).await;
    origin.let_go();
    origin.let_go();
    for caller in before {
        assert_eq!(text(&at_once(&rig, caller).await), "old");
    }
    assert_eq!((held(&cache, "a").await, held(&cache, "b").await), (None, None));
}

pub(crate) async fn a_put_of_several_answers_for_each(rig: impl Rig) {
    let cache = rig.builder("case").max_bytes(100).build().unwrap();
    let puts = cache.put_many([("a", "A".to_owned()), ("b", "B".repeat(200)), ("c", "C".to_owned())]).await;
    assert!(matches!(puts.as_slice(), [Ok(Put::Stored), Err(_), Ok(Put::Stored)]), "{puts:?}");
    let stored = [held(&cache, "a").await, held(&cache, "b").await, held(&cache, "c").await];
    assert_eq!(stored, [Some("A".to_owned()), None, Some("C".to_owned())]);
}

// L11, L12, Q6 in kind: a client that disconnects does not take its change with it.
pub(crate) async fn an_invalidate_is_done_though_its_caller_leaves(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    assert!(Box::pin(cache.invalidate("a")).now_or_never().is_none());
    rig.settle().await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn a_put_is_done_though_its_caller_leaves(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    assert!(Box::pin(cache.put("a", "new".to_owned())).now_or_never().is_none());
    rig.settle().await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

// C57: neither what is stored nor what is being loaded suffers.
pub(crate) async fn a_put_that_is_too_large_changes_nothing(rig: impl Rig) {
    let cache = rig.builder("case").max_bytes(100).build().unwrap();
    fill(&cache, "b", "B").await;
    let refuse = async {
        for id in ["a", "b"] {
            assert_eq!(cache.put(id, "x".repeat(200)).await.unwrap_err().kind(), ErrorKind::TooLarge);
        }
    };
    load_around(&rig, &cache, refuse).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("old"));
    assert_eq!(held(&cache, "b").await.as_deref(), Some("B"));
}

pub(crate) async fn a_put_that_has_no_form_changes_nothing(rig: impl Rig) {
    let whim = Whim::default();
    let cache = rig.builder("case").codec(whim.clone()).build().unwrap();
    fill(&cache, "a", "A").await;
    whim.writes_nothing();
    assert_eq!(cache.put("a", "new".to_owned()).await.unwrap_err().kind(), ErrorKind::Encode);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn a_put_without_a_life_is_refused(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "A").await;
    let value = || Loaded::new("new".to_owned());
    let short = Duration::from_micros(999);
    for lifeless in
        [value().time_to_live(Duration::ZERO), value().time_to_live(short), value().do_not_store()]
    {
        assert_eq!(cache.put("a", lifeless).await.unwrap_err().kind(), ErrorKind::Config);
    }
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn a_put_leaves_nothing_in_process_memory(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    cache.put("a", "new".to_owned()).await.unwrap();
    let (first, second) = (entry(&cache, "a").await, entry(&cache, "a").await);
    assert_eq!((first.source, second.source), (Source::Store, Source::Memory));
    assert_eq!(*second.value, "new");
}

// C52: the new value has nothing of the old one's.
pub(crate) async fn an_overwrite_takes_nothing_over(rig: impl Rig) {
    let cache = rig.builder("case").refresh(Refresh::Stale).stale_for(SECOND).build().unwrap();
    let rich = Loaded::new("old".to_owned()).validator("v1").stale_for(STALE).time_to_live(STALE);
    cache.put("a", rich).await.unwrap();
    cache.put("a", "new".to_owned()).await.unwrap();
    let new = entry(&cache, "a").await;
    assert!(new.validator.is_none() && same(&rig, new.fresh_for, LIFE), "{new:?}");
    rig.pass(LIFE + SECOND).await;
    assert_eq!(held(&cache, "a").await, None);
}

pub(crate) async fn an_invalidate_of_an_unknown_id_is_done(rig: impl Rig) {
    let cache = rig.cache();
    assert_eq!(cache.invalidate("a").await, Invalidated::Everywhere);
    assert_eq!(cache.expire("a").await, Invalidated::Everywhere);
    fill(&cache, "a", "A").await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn an_expired_value_is_loaded_again(rig: impl Rig) {
    let cache = keeping(&rig);
    fill(&cache, "a", "old").await;
    cache.expire("a").await;
    assert_eq!(held(&cache, "a").await, None);
    fill(&cache, "a", "new").await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn an_expired_value_is_there_if_the_load_fails(rig: impl Rig) {
    let (cache, origin) = (keeping(&rig), Origin::ready());
    fill(&cache, "a", "old").await;
    cache.expire("a").await;
    assert_eq!(text(&cache.get_or_load("a", origin.fails("down")).await), "old");
    assert_eq!(origin.calls(), 1);
    rig.pass(STALE).await;
    assert!(cache.get_or_load("a", origin.fails("down")).await.is_err());
}

pub(crate) async fn an_expired_value_that_is_not_kept_is_gone(rig: impl Rig) {
    let cache = rig.cache();
    fill(&cache, "a", "old").await;
    cache.expire("a").await;
    assert!(cache.get_or_load("a", Origin::ready().fails("down")).await.is_err());
}

// It would otherwise be kept for ever by expiring it again and again.
pub(crate) async fn expiring_a_stale_value_does_not_prolong_it(rig: impl Rig) {
    let cache = keeping(&rig);
    fill(&cache, "a", "old").await;
    rig.pass(LIFE + STALE / 2).await;
    cache.expire("a").await;
    rig.pass(STALE / 2 - SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().fails("down")).await), "old");
    rig.pass(SECOND).await;
    assert!(cache.get_or_load("a", Origin::ready().fails("down")).await.is_err());
}

//! What is refused and what is bounded: permits, the origin's breaker, sizes, shapes, spaces.

use std::time::Duration;

use forebay::{
    ErrorKind,
    cache::{Cache, Filled, LoadError, Lookup, OriginBreaker, Returned},
};
use futures::future::join_all;
use tokio::task::JoinHandle;

use crate::{
    rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, call, fill, held, text},
    whim::Whim,
};

/// Starts `n` loads of different ids.
fn call_many(cache: &Cache<String>, origin: &Origin, n: usize) -> Vec<JoinHandle<Answer>> {
    (0..n).map(|id| call(cache, &id.to_string(), origin.gives("A"))).collect()
}

// C27, C58: the limit holds while loads begin and end.
pub(crate) async fn no_more_loads_run_than_the_space_allows(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(3).build().unwrap();
    let origin = Origin::paused();
    let callers = call_many(&cache, &origin, 10);
    rig.settle().await;
    for ended in 0..10 {
        assert_eq!(origin.calls(), (3 + ended).min(10));
        origin.let_go();
        rig.settle().await;
    }
    for answer in join_all(callers).await {
        assert_eq!(text(&answer.unwrap()), "A");
    }
}

pub(crate) async fn who_gets_no_permit_in_time_is_told(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(1).wait(SECOND).build().unwrap();
    let origin = Origin::paused();
    let callers = call_many(&cache, &origin, 3);
    rig.pass(SECOND).await;
    origin.let_go();
    let answers: Vec<_> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    let refused = answers.iter().filter(|answer| matches!(answer, Err(LoadError::Overloaded))).count();
    assert_eq!((refused, origin.calls(), cache.stats().overloads), (2, 1, 2));
}

// C16, C19: who was refused leaves neither a lease nor a note behind.
pub(crate) async fn after_an_overload_the_next_caller_loads(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(1).wait(SECOND).build().unwrap();
    let origin = Origin::paused();
    let busy = call(&cache, "b", origin.gives("B"));
    rig.settle().await;
    let refused = call(&cache, "a", origin.gives("A"));
    rig.pass(SECOND).await;
    assert!(matches!(at_once(&rig, refused).await, Err(LoadError::Overloaded)));
    origin.let_go();
    busy.await.unwrap().unwrap();
    fill(&cache, "a", "A").await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("A"));
}

pub(crate) async fn a_permit_comes_free_when_a_load_hangs_or_panics(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(1).load_timeout(SECOND).build().unwrap();
    let hanging = call(&cache, "a", Origin::paused().gives("A"));
    rig.pass(SECOND).await;
    assert!(matches!(at_once(&rig, hanging).await, Err(LoadError::TimedOut)));
    let panicking = call(&cache, "b", async |_| panic!("on purpose"));
    assert!(matches!(at_once(&rig, panicking).await, Err(LoadError::Panicked)));
    fill(&cache, "c", "C").await;
}

// C58: what no lease bounds is bounded for the whole process, 64 by default.
pub(crate) async fn loads_without_a_lease_are_bounded(rig: impl Rig) {
    let cache = rig.builder("case").failure_for(LIFE).wait(SECOND).build().unwrap();
    let large = || forebay::cache::Loaded::new("A".to_owned()).do_not_store();
    for id in 0..70 {
        let unshared = async move |_| Ok::<_, String>(large());
        cache.get_or_load(id.to_string(), unshared).await.unwrap();
    }
    let origin = Origin::paused();
    let callers = call_many(&cache, &origin, 70);
    rig.pass(SECOND).await;
    assert_eq!(origin.calls(), 64);
    (0..64).for_each(|_| origin.let_go());
    let answers = join_all(callers).await;
    let refused = answers.iter().filter(|answer| matches!(answer, Ok(Err(LoadError::Overloaded)))).count();
    assert_eq!(refused, 6);
}

const RULE: OriginBreaker =
    OriginBreaker { failures: 3, window: Duration::from_secs(10), pause: Duration::from_secs(20) };

/// A cache whose origin's breaker has just opened.
async fn open(rig: &impl Rig) -> Cache<String> {
    let cache = rig.builder("case").origin_breaker(RULE).build().unwrap();
    for id in ["x", "y", "z"] {
        let failed = cache.get_or_load(id, Origin::ready().fails("down")).await;
        assert!(matches!(failed, Err(LoadError::Failed(_))));
    }
    cache
}

pub(crate) async fn an_origin_that_fails_is_left_alone(rig: impl Rig) {
    let (cache, origin) = (open(&rig).await, Origin::ready());
    let Err(LoadError::FailedElsewhere { retry_after }) = cache.get_or_load("a", origin.gives("A")).await
    else {
        panic!("the breaker is closed")
    };
    assert!(retry_after <= RULE.pause && retry_after > RULE.pause - SECOND, "{retry_after:?}");
    assert_eq!(origin.calls(), 0);
}

// Those who load outside are kept from a failing origin like those who load here.
pub(crate) async fn leases_that_fail_open_the_breaker_for_leases_too(rig: impl Rig) {
    let cache = rig.builder("case").origin_breaker(RULE).build().unwrap();
    for id in ["x", "y", "z"] {
        let Lookup::Lease(lease) = cache.lookup(id, SECOND).await else { panic!("the breaker is open") };
        assert_eq!(lease.fail().await, Returned::Done);
    }
    assert!(matches!(cache.lookup("a", SECOND).await, Lookup::Failed { .. }));
    rig.pass(RULE.pause).await;
    let Lookup::Lease(probe) = cache.lookup("a", SECOND).await else { panic!("no probe") };
    assert!(matches!(cache.lookup("b", SECOND).await, Lookup::Failed { .. }));
    assert_eq!(probe.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert!(matches!(cache.lookup("b", SECOND).await, Lookup::Lease(_)));
}

pub(crate) async fn an_open_breaker_keeps_nobody_from_what_is_stored(rig: impl Rig) {
    let cache = open(&rig).await;
    cache.put("a", "A".to_owned()).await.unwrap();
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("B")).await), "A");
}

pub(crate) async fn failures_far_apart_leave_the_breaker_closed(rig: impl Rig) {
    let cache = rig.builder("case").origin_breaker(RULE).build().unwrap();
    for id in ["x", "y", "z"] {
        cache.get_or_load(id, Origin::ready().fails("down")).await.unwrap_err();
        rig.pass(RULE.window / 2).await;
    }
    fill(&cache, "a", "A").await;
}

pub(crate) async fn callers_of_one_failing_load_count_once(rig: impl Rig) {
    let cache = rig.builder("case").origin_breaker(RULE).build().unwrap();
    let origin = Origin::paused();
    let callers: Vec<_> = (0..20).map(|_| call(&cache, "x", origin.fails("down"))).collect();
    rig.settle().await;
    origin.let_go();
    assert!(join_all(callers).await.into_iter().all(|answer| answer.unwrap().is_err()));
    fill(&cache, "a", "A").await;
}

// gobreaker PR73: calls through a breaker that is shared ran one after the other.
pub(crate) async fn a_breaker_holds_up_none_of_a_hundred_loads(rig: impl Rig) {
    let cache = rig.builder("case").origin_breaker(RULE).build().unwrap();
    let origin = Origin::paused();
    let callers = call_many(&cache, &origin, 100);
    rig.settle().await;
    rig.settle().await;
    assert_eq!(origin.calls(), 100);
    (0..100).for_each(|_| origin.let_go());
    for caller in callers {
        assert_eq!(text(&at_once(&rig, caller).await), "A");
    }
}

// pensyve #95, forma #246: one probe, not a stampede.
pub(crate) async fn after_the_pause_one_load_probes_the_origin(rig: impl Rig) {
    let (cache, origin) = (open(&rig).await, Origin::paused());
    rig.pass(RULE.pause).await;
    let callers = call_many(&cache, &origin, 10);
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    let answers = join_all(callers).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Ok(_)))).count(), 1);
    fill(&cache, "a", "A").await;
}

pub(crate) async fn a_probe_that_fails_opens_the_breaker_again(rig: impl Rig) {
    let (cache, origin) = (open(&rig).await, Origin::ready());
    rig.pass(RULE.pause).await;
    cache.get_or_load("a", origin.fails("down")).await.unwrap_err();
    cache.get_or_load("b", origin.gives("B")).await.unwrap_err();
    assert_eq!(origin.calls(), 1);
    rig.pass(RULE.pause).await;
    fill(&cache, "b", "B").await;
}

// C57: lru-cache evicts everything else, LRUCache.jl drops the value.
pub(crate) async fn a_value_that_is_too_large_is_handed_out_and_evicts_nothing(rig: impl Rig) {
    let cache = rig.builder("case").max_bytes(1000).build().unwrap();
    fill(&cache, "b", "B").await;
    rig.settle().await;
    let before = rig.forebay().local_bytes();
    let large = "x".repeat(2000);
    fill(&cache, "a", &large).await;
    assert_eq!((cache.stats().too_large, held(&cache, "a").await), (1, None));
    assert_eq!(rig.forebay().local_bytes(), before);
    assert_eq!(held(&cache, "b").await.as_deref(), Some("B"));
}

pub(crate) async fn a_value_of_exactly_the_largest_size_is_stored(rig: impl Rig) {
    let cache = rig.forebay().cache_with("case", LIFE, forebay::codec::Raw).max_bytes(1000).build().unwrap();
    cache.put("a", vec![b'x'; 1000]).await.unwrap();
    assert_eq!(cache.get("a").await.unwrap().len(), 1000);
    assert_eq!(cache.put("a", vec![b'x'; 1001]).await.unwrap_err().kind(), ErrorKind::TooLarge);
}

pub(crate) async fn a_value_without_a_form_is_handed_out_and_not_stored(rig: impl Rig) {
    let (whim, origin) = (Whim::default(), Origin::ready());
    let cache = rig.builder("case").codec(whim.clone()).build().unwrap();
    whim.writes_nothing();
    for _ in 0..2 {
        assert_eq!(text(&cache.get_or_load("a", origin.gives("A")).await), "A");
    }
    assert_eq!((origin.calls(), held(&cache, "a").await), (2, None));
}

/// A cache whose entry for "a" has a shape of yesterday.
async fn outdated(rig: &impl Rig) -> (Cache<String>, Whim) {
    let whim = Whim::default();
    let cache = rig.builder("case").codec(whim.clone()).build().unwrap();
    cache.put("a", "old".to_owned()).await.unwrap();
    whim.changes_shape();
    (cache, whim)
}

// C51: FusionCache throws at every read until the entry ends.
pub(crate) async fn an_entry_of_another_shape_is_loaded_anew_once(rig: impl Rig) {
    let ((cache, _), origin) = (outdated(&rig).await, Origin::ready());
    for _ in 0..3 {
        assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "new");
    }
    assert_eq!((origin.calls(), cache.stats().unreadable), (1, 1));
    rig.pass(LIFE - SECOND).await;
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

pub(crate) async fn an_entry_of_another_shape_is_a_miss(rig: impl Rig) {
    let (cache, _) = outdated(&rig).await;
    assert_eq!(held(&cache, "a").await, None);
    assert_eq!((cache.stats().unreadable, cache.stats().misses), (1, 1));
    let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("no lease") };
    assert_eq!(lease.fill("new".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(held(&cache, "a").await.as_deref(), Some("new"));
}

// C51, as FusionCache throws at an entry of another shape: what was unreadable is filled by somebody else meanwhile, and
// that can be read.
pub(crate) async fn who_waits_behind_an_unreadable_entry_gets_the_fill(rig: impl Rig) {
    let ((cache, _), unused) = (outdated(&rig).await, Origin::ready());
    let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("no lease") };
    let caller = call(&cache, "a", unused.gives("mine"));
    rig.settle().await;
    assert_eq!(lease.fill("theirs".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!((text(&at_once(&rig, caller).await), unused.calls()), ("theirs", 0));
}

pub(crate) async fn an_unreadable_entry_is_no_fallback(rig: impl Rig) {
    let (cache, _) = outdated(&rig).await;
    assert!(cache.get_or_load("a", Origin::ready().fails("down")).await.is_err());
}

pub(crate) async fn a_space_is_built_once(rig: impl Rig) {
    let _first = rig.cache();
    let refusal = rig.builder("case").build().unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains("clone"), "{refusal}");
}

pub(crate) async fn a_space_that_was_refused_can_be_built_aright(rig: impl Rig) {
    rig.builder("case").jitter(7.0).build().unwrap_err();
    fill(&rig.cache(), "a", "A").await;
}

pub(crate) async fn a_misspelt_space_is_refused_with_the_remedy(rig: impl Rig) {
    for name in ["", "My space", "a/b", "{a}", "ä", "x".repeat(65).as_str()] {
        let refusal = rig.builder(name).build().unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("a-z"), "{refusal}");
    }
}

pub(crate) async fn limits_that_allow_nothing_are_refused_by_name(rig: impl Rig) {
    let never = OriginBreaker { failures: 0, ..RULE };
    let builders = [
        ("load_concurrency", rig.builder("case").load_concurrency(0)),
        ("origin_breaker", rig.builder("case").origin_breaker(never)),
        ("version", rig.builder("case").version(0)),
    ];
    for (option, builder) in builders {
        let refusal = builder.build().unwrap_err().to_string();
        assert!(refusal.contains(option), "{refusal}");
    }
}

//! Reading past all levels.

use forebay::cache::{Cache, Filled, Load, LoadError, Lookup, Refresh};
use tokio::task::JoinHandle;

use crate::rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, call, put_stale, text};

/// Starts a caller that loads `id` freshly by `loader`.
fn call_freshly<Fut>(
    cache: &Cache<String>,
    id: &str,
    loader: impl FnOnce(Load<String>) -> Fut + Send + 'static,
) -> JoinHandle<Answer>
where
    Fut: Future<Output = Result<String, String>> + Send + 'static,
{
    let (cache, id) = (cache.clone(), id.to_owned());
    tokio::spawn(async move { cache.fresh().get_or_load(id, loader).await })
}

pub(crate) async fn a_fresh_read_loads_what_the_levels_have_and_stores_it(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    assert_eq!(text(&cache.get_or_load("a", origin.gives("A")).await), "A");
    assert_eq!(text(&cache.fresh().get_or_load("a", origin.gives("B")).await), "B");
    assert_eq!(text(&cache.get_or_load("a", origin.gives("C")).await), "B");
}

pub(crate) async fn a_fresh_read_joins_a_load_that_has_not_begun(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(1).build().unwrap();
    let (holder, origin) = (Origin::paused(), Origin::ready());
    let held = call(&cache, "b", holder.gives("B"));
    rig.settle().await;
    let waiting = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let fresh = call_freshly(&cache, "a", origin.gives("C"));
    rig.settle().await;
    holder.let_go();
    for (caller, value) in [(held, "B"), (waiting, "A"), (fresh, "A")] {
        assert_eq!(text(&at_once(&rig, caller).await), value);
    }
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_fresh_read_waits_for_a_load_that_has_begun_and_loads_anew(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let running = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let fresh: Vec<_> = (0..10).map(|_| call_freshly(&cache, "a", origin.gives("B"))).collect();
    rig.settle().await;
    assert_eq!(origin.calls(), 1);
    origin.let_go();
    assert_eq!(text(&at_once(&rig, running).await), "A");
    rig.settle().await;
    origin.let_go();
    for caller in fresh {
        assert_eq!(text(&at_once(&rig, caller).await), "B");
    }
    assert_eq!(origin.calls(), 2);
    assert_eq!(cache.get("a").await.unwrap().as_str(), "B");
}

pub(crate) async fn a_fresh_read_loads_although_the_running_load_fails(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let running = call(&cache, "a", origin.fails("no"));
    rig.settle().await;
    let fresh = call_freshly(&cache, "a", origin.gives("A"));
    rig.settle().await;
    origin.let_go();
    origin.let_go();
    assert!(at_once(&rig, running).await.is_err());
    assert_eq!(text(&at_once(&rig, fresh).await), "A");
}

pub(crate) async fn a_fresh_read_takes_a_busy_lease_only_after_its_holder(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let Lookup::Lease(lease) = cache.lookup("a", SECOND).await else { panic!("nobody loads") };
    let fresh = call_freshly(&cache, "a", origin.gives("B"));
    rig.pass(SECOND).await;
    assert_eq!(origin.calls(), 0);
    assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    assert_eq!(text(&at_once(&rig, fresh).await), "B");
}

pub(crate) async fn a_failing_fresh_read_gets_its_error_and_no_value_of_a_level(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).build().unwrap();
    let origin = Origin::ready();
    cache.put("a", "old".to_owned()).await.unwrap();
    let fresh = cache.fresh().get_or_load("a", origin.fails("no")).await;
    assert!(matches!(fresh, Err(LoadError::Failed(_))), "{fresh:?}");
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "old");
    rig.pass(LIFE + SECOND).await;
    let fresh = cache.fresh().get_or_load("a", origin.fails("no")).await;
    assert!(matches!(fresh, Err(LoadError::Failed(_))), "{fresh:?}");
}

pub(crate) async fn a_fresh_read_tries_although_a_load_failed_a_moment_ago(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    assert!(cache.get_or_load("a", origin.fails("no")).await.is_err());
    assert_eq!(text(&cache.fresh().get_or_load("a", origin.gives("A")).await), "A");
}

// The option's promise (`stale_for`: the fallback when the origin fails) knows no exception for others' reads.
pub(crate) async fn a_failing_fresh_load_leaves_others_their_stale_value(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).build().unwrap();
    let origin = Origin::paused();
    put_stale(&rig, &cache, "a", "old").await;
    let fresh = call_freshly(&cache, "a", origin.fails("no"));
    rig.settle().await;
    let other = call(&cache, "a", origin.fails("no"));
    rig.settle().await;
    origin.let_go();
    origin.let_go();
    assert!(at_once(&rig, fresh).await.is_err());
    assert_eq!(text(&at_once(&rig, other).await), "old");
}

// BentoCache #103, C28: who could have a stale value at once waited for somebody's load.
pub(crate) async fn a_fresh_load_keeps_nobody_waiting_who_takes_stale_values(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    let origin = Origin::paused();
    put_stale(&rig, &cache, "a", "old").await;
    let fresh = call_freshly(&cache, "a", origin.gives("new"));
    rig.settle().await;
    let other = call(&cache, "a", origin.gives("other"));
    assert_eq!(text(&at_once(&rig, other).await), "old");
    origin.let_go();
    assert_eq!(text(&at_once(&rig, fresh).await), "new");
}

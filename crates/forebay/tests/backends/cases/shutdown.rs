//! The end of a `Forebay`: what runs gets its budget, what waits is told, and nothing hangs.

use std::time::Duration;

use forebay::cache::{Cache, LoadError, Lookup};
use tokio::task::JoinHandle;

use crate::rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, call, text};

const BUDGET: Duration = SECOND.saturating_mul(5);

/// Begins to shut down, and answers whether everything ended by itself.
fn shut_down(rig: &impl Rig) -> JoinHandle<bool> {
    let forebay = rig.forebay().clone();
    tokio::spawn(async move { forebay.shutdown(BUDGET).await })
}

fn is_overloaded(answer: &Answer) -> bool {
    matches!(answer, Err(LoadError::Overloaded))
}

pub(crate) async fn a_running_load_gets_the_budget_and_is_stored(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let caller = call(&cache, "a", origin.gives("A"));
    rig.settle().await;
    let shutdown = shut_down(&rig);
    rig.pass(BUDGET / 2).await;
    assert!(!shutdown.is_finished());
    origin.let_go();
    assert_eq!(text(&at_once(&rig, caller).await), "A");
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(cache.get("a").await.unwrap().as_str(), "A");
}

pub(crate) async fn a_hung_load_is_ended_when_the_budget_is_over(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let callers = [(); 3].map(|()| call(&cache, "a", origin.gives("A")));
    rig.settle().await;
    let shutdown = shut_down(&rig);
    rig.pass(BUDGET).await;
    assert!(!at_once(&rig, shutdown).await);
    for caller in callers {
        assert!(is_overloaded(&at_once(&rig, caller).await));
    }
}

pub(crate) async fn who_waits_for_somebody_elses_load_is_told_at_once(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let Lookup::Lease(lease) = cache.lookup("a", SECOND).lease(LIFE).await else { panic!("nobody loads") };
    let waiting = call(&cache, "a", origin.gives("A"));
    rig.pass(SECOND).await;
    let shutdown = shut_down(&rig);
    assert!(is_overloaded(&at_once(&rig, waiting).await));
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(origin.calls(), 0);
    drop(lease);
}

pub(crate) async fn a_load_that_waits_for_a_permit_is_refused_at_once(rig: impl Rig) {
    let cache = rig.builder("case").load_concurrency(1).build().unwrap();
    let (running, waiting) = (Origin::paused(), Origin::ready());
    let first = call(&cache, "a", running.gives("A"));
    rig.settle().await;
    let second = call(&cache, "b", waiting.gives("B"));
    rig.settle().await;
    let shutdown = shut_down(&rig);
    let second = at_once(&rig, second).await;
    assert!(is_overloaded(&second), "{second:?}");
    running.let_go();
    assert_eq!(text(&at_once(&rig, first).await), "A");
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(waiting.calls(), 0);
}

pub(crate) async fn nothing_new_is_loaded_while_what_runs_has_its_budget(rig: impl Rig) {
    let (cache, running, origin) = (rig.cache(), Origin::paused(), Origin::ready());
    let first = call(&cache, "a", running.gives("A"));
    rig.settle().await;
    let shutdown = shut_down(&rig);
    rig.settle().await;
    assert!(is_overloaded(&at_once(&rig, call(&cache, "b", origin.gives("B"))).await));
    running.let_go();
    assert_eq!(text(&at_once(&rig, first).await), "A");
    assert!(at_once(&rig, shutdown).await);
    assert_eq!(origin.calls(), 0);
}

pub(crate) async fn nothing_is_loaded_afterwards(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    assert!(at_once(&rig, shut_down(&rig)).await);
    assert!(is_overloaded(&at_once(&rig, call(&cache, "a", origin.gives("A"))).await));
    assert_eq!(origin.calls(), 0);
}

/// Has every kind of read answer `value` for `id`.
async fn reads(cache: &Cache<String>, id: &str, value: &str) {
    assert_eq!(cache.get(id).await.unwrap().as_str(), value);
    assert_eq!(text(&cache.get_or_load(id, Origin::ready().gives("no")).await), value);
}

pub(crate) async fn what_is_in_process_memory_is_read_afterwards(rig: impl Rig) {
    let cache = rig.cache();
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("A")).await), "A");
    shut_down(&rig).await.unwrap();
    reads(&cache, "a", "A").await;
}

pub(crate) async fn what_is_in_the_store_is_read_afterwards(rig: impl Rig) {
    let cache = rig.builder("case").local_time_to_live(Duration::ZERO).build().unwrap();
    cache.put("a", "A".to_owned()).await.unwrap();
    shut_down(&rig).await.unwrap();
    reads(&cache, "a", "A").await;
}

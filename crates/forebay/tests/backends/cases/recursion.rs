//! Loads that wait, perhaps through others, for what they are to load: an error at once, never a hang.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::{
    Forebay,
    cache::{Cache, Load, LoadError, Lookup, Refresh},
};
use tokio::sync::{Barrier, Notify};

use crate::rig::{Answer, Call, LIFE, Origin, Rig, SECOND, at_once, call, put_stale, text};

/// A loader that asks `cache` for `id`, by `loader`, and fails by the name of the innermost error.
pub(super) fn asks<Fut>(
    cache: &Cache<String>,
    id: &'static str,
    loader: impl FnOnce(Load<String>) -> Fut + Send + 'static,
) -> impl FnOnce(Load<String>) -> Call<Result<String, String>> + Send + 'static
where
    Fut: Future<Output = Result<String, String>> + Send + 'static,
{
    let cache = cache.clone();
    move |_| Box::pin(async move { passed_on(cache.get_or_load(id, loader).await) })
}

fn passed_on(answer: Answer) -> Result<String, String> {
    match answer {
        Ok(value) => Ok(value.to_string()),
        Err(LoadError::Failed(error)) => Err(error.to_string()),
        Err(error) => Err(format!("{error:?}")),
    }
}

/// The innermost error of a load by [`asks`].
fn error(answer: Answer) -> String {
    passed_on(answer).expect_err("the load fails")
}

// FusionCache #513, caffeine #712, cached PR 276, cachebox #54, C25: the load waited for itself.
pub(crate) async fn a_load_that_asks_for_its_own_key_is_recursive(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let caller = call(&cache, "a", asks(&cache, "a", origin.gives("A")));
    assert_eq!(error(at_once(&rig, caller).await), "Recursive");
    assert_eq!(origin.calls(), 0);
}

pub(crate) async fn a_load_that_asks_for_its_own_key_through_another_is_recursive(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let other = rig.builder("other").build().unwrap();
    let inner = asks(&other, "b", asks(&cache, "a", origin.gives("A")));
    let caller = call(&cache, "a", inner);
    assert_eq!(error(at_once(&rig, caller).await), "Recursive");
    assert_eq!(origin.calls(), 0);
}

// C25, "mutual A↔B": each load had begun before the other was asked for.
pub(crate) async fn two_loads_begun_apart_that_ask_for_each_other_are_recursive(rig: impl Rig) {
    let (cache, origin, both) = (rig.cache(), Origin::ready(), Arc::new(Barrier::new(2)));
    let callers = [("a", "b"), ("b", "a")].map(|(own, other)| {
        let (asks, both) = (asks(&cache, other, origin.gives("no")), both.clone());
        call(&cache, own, async move |load| {
            both.wait().await;
            asks(load).await
        })
    });
    for caller in callers {
        assert_eq!(error(at_once(&rig, caller).await), "Recursive");
    }
    assert_eq!(origin.calls(), 0);
}

/// Has the load of `a` wait for `first` and `second` at a time, of which `b` only waits and `c` asks for `a`.
async fn is_recursive_through_one_of(rig: &impl Rig, cache: &Cache<String>, first: &str, second: &str) {
    let (slow, go) = (Origin::paused(), Arc::new(Notify::new()));
    let (asks, gone) = (asks(cache, "a", Origin::ready().gives("no")), go.clone());
    let b = call(cache, "b", slow.gives("B"));
    let c = call(cache, "c", async move |load| {
        gone.notified().await;
        asks(load).await
    });
    rig.settle().await;
    let (inner, ids, unused) = (cache.clone(), [first.to_owned(), second.to_owned()], Origin::ready());
    let a = call(cache, "a", async move |_| {
        let [first, second] = ids.map(|id| inner.get_or_load(id, unused.gives("no")));
        let (first, second) = tokio::join!(first, second);
        passed_on(first).and(passed_on(second))
    });
    rig.settle().await;
    go.notify_one();
    assert_eq!(error(at_once(rig, c).await), "Recursive");
    slow.let_go();
    assert_eq!(text(&at_once(rig, b).await), "B");
    assert_eq!(error(at_once(rig, a).await), "Recursive");
}

pub(crate) async fn each_of_the_loads_that_one_waits_for_may_close_the_circle(rig: impl Rig) {
    let (cache, other) = (rig.cache(), rig.builder("other").build().unwrap());
    is_recursive_through_one_of(&rig, &cache, "b", "c").await;
    is_recursive_through_one_of(&rig, &other, "c", "b").await;
}

pub(crate) async fn a_load_that_asks_freshly_for_its_own_key_is_recursive(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let (inner, gives) = (cache.clone(), origin.gives("A"));
    let caller = call(&cache, "a", async move |_| passed_on(inner.fresh().get_or_load("a", gives).await));
    assert_eq!(error(at_once(&rig, caller).await), "Recursive");
}

pub(crate) async fn a_load_that_finds_its_own_key_is_recursive(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let inner = cache.clone();
    let nested = async move |_| inner.find_or_load("a", origin.finds(None)).await;
    let (outer, finds) = (cache.clone(), nested);
    let caller = tokio::spawn(async move {
        outer
            .find_or_load("a", async move |load| finds(load).await.map(|found| found.map(|v| v.to_string())))
            .await
    });
    let answer = at_once(&rig, caller).await;
    assert!(
        matches!(&answer, Err(LoadError::Failed(inner)) if matches!(**inner, LoadError::<Infallible>::Recursive)),
        "{answer:?}"
    );
}

pub(crate) async fn a_load_that_looks_its_own_key_up_hears_that_it_is_busy(rig: impl Rig) {
    let cache = rig.cache();
    let inner = cache.clone();
    let caller = call(&cache, "a", async move |_| match inner.lookup("a", LIFE).await {
        Lookup::Busy { .. } => Ok("busy".to_owned()),
        other => Err(format!("{other:?}")),
    });
    assert_eq!(text(&at_once(&rig, caller).await), "busy");
}

// The refresh is a flight beside that of the readers, so that its own wait passes through the lease it holds.
pub(crate) async fn a_refresh_that_asks_freshly_for_its_own_key_is_recursive(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    put_stale(&rig, &cache, "a", "old").await;
    let (inner, (heard, mut hears)) = (cache.clone(), tokio::sync::mpsc::channel(1));
    let loader = async move |_| {
        let answer = passed_on(inner.fresh().get_or_load("a", Origin::ready().gives("A")).await);
        heard.send(answer.clone()).await.map_err(|error| error.to_string())?;
        answer
    };
    assert_eq!(text(&cache.get_or_load("a", loader).await), "old");
    let heard = at_once(&rig, tokio::spawn(async move { hears.recv().await })).await;
    assert_eq!(heard.unwrap().unwrap_err(), "Recursive");
}

pub(crate) async fn a_refused_recursion_counts_as_a_failure_and_not_as_a_cancelled_wait(rig: impl Rig) {
    let cache = rig.cache();
    let caller = call(&cache, "a", asks(&cache, "a", Origin::ready().gives("A")));
    at_once(&rig, caller).await.unwrap_err();
    assert_eq!((cache.stats().failures, cache.stats().cancelled_waits), (2, 0));
}

pub(crate) async fn a_load_may_wait_for_one_that_runs_for_somebody_else(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let other = call(&cache, "b", origin.gives("B"));
    rig.settle().await;
    let caller = call(&cache, "a", asks(&cache, "b", origin.gives("no")));
    rig.settle().await;
    origin.let_go();
    for caller in [other, caller] {
        assert_eq!(text(&at_once(&rig, caller).await), "B");
    }
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn two_ways_to_one_key_are_no_circle(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    let (b, c) = (asks(&cache, "d", origin.gives("D")), asks(&cache, "d", origin.gives("D")));
    let inner = cache.clone();
    let caller = call(&cache, "a", async move |_| {
        let (b, c) = tokio::join!(inner.get_or_load("b", b), inner.get_or_load("c", c));
        Ok(format!("{}{}", passed_on(b)?, passed_on(c)?))
    });
    assert_eq!(text(&at_once(&rig, caller).await), "DD");
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_load_within_a_load_of_another_forebay_is_no_circle(rig: impl Rig) {
    let other = Forebay::builder("other").memory().build().await.unwrap();
    let (outer, inner) = (rig.cache(), other.cache::<String>("case", LIFE).build().unwrap());
    let caller = call(&outer, "a", asks(&inner, "a", Origin::ready().gives("A")));
    assert_eq!(text(&at_once(&rig, caller).await), "A");
}

pub(crate) async fn a_circle_through_a_task_of_the_loaders_own_ends_at_the_timeout(rig: impl Rig) {
    let cache = rig.builder("case").load_timeout(SECOND * 2).build().unwrap();
    let inner = cache.clone();
    let caller = call(&cache, "a", async move |_| {
        passed_on(call(&inner, "a", Origin::ready().gives("no")).await.map_err(|error| error.to_string())?)
    });
    rig.pass(SECOND * 2 - Duration::from_millis(1)).await;
    assert!(!caller.is_finished());
    rig.pass(Duration::from_millis(1)).await;
    assert_eq!(error(at_once(&rig, caller).await), "TimedOut");
}

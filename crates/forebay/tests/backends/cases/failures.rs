//! Loads that fail, panic or hang: everybody hears of it, nothing is stored, and the key works again.

use std::{future::Future, sync::Arc};

use forebay::cache::{Cache, Load, LoadError, Read, Refresh};
use futures::future::{BoxFuture, join_all};
use tokio::task::JoinHandle;

use crate::rig::{Answer, LIFE, Origin, Rig, SECOND, at_once, call, put_stale, text};

// quick_cache Q4: 20 loads for 20 callers. BentoCache Q9: two at the same time.
pub(crate) async fn twenty_callers_share_one_failing_load_and_its_error(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::paused());
    let mut callers: Vec<_> = (0..10).map(|_| call(&cache, "a", origin.fails("no"))).collect();
    rig.settle().await;
    callers.extend((0..10).map(|_| call(&cache, "a", origin.fails("late"))));
    rig.settle().await;
    origin.let_go();
    let answers = at_once(&rig, tokio::spawn(join_all(callers))).await;
    let errors: Vec<_> = answers.into_iter().map(|answer| failed(answer.unwrap())).collect();
    assert!(errors.iter().all(|error| Arc::ptr_eq(error, &errors[0])));
    assert_eq!((errors[0].as_str(), origin.calls(), cache.stats().load_failures), ("no", 1, 1));
}

fn failed(answer: Answer) -> Arc<String> {
    match answer {
        Err(LoadError::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn for_a_moment_after_a_failure_nobody_loads(rig: impl Rig) {
    let (cache, origin) = (rig.builder("case").failure_for(SECOND).build().unwrap(), Origin::ready());
    failed(cache.get_or_load("a", origin.fails("no")).await);
    rig.pass(SECOND / 2).await;
    let answer = cache.get_or_load("a", origin.gives("A")).await;
    assert!(
        matches!(answer, Err(LoadError::FailedElsewhere { retry_after }) if retry_after <= SECOND / 2),
        "{answer:?}"
    );
    assert_eq!(origin.calls(), 1);
    rig.pass(SECOND / 2).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("A")).await), "A");
}

pub(crate) async fn a_failure_of_one_key_is_none_of_another(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    failed(cache.get_or_load("a", origin.fails("no")).await);
    assert_eq!(text(&cache.get_or_load("b", origin.gives("B")).await), "B");
}

/// A loader that panics where it would first wait.
fn panics(_: Load<String>) -> BoxFuture<'static, Result<String, String>> {
    Box::pin(async {
        tokio::task::yield_now().await;
        panic!("the loader's own")
    })
}

/// A loader that panics before there is anything to await.
fn panics_at_once(_: Load<String>) -> BoxFuture<'static, Result<String, String>> {
    panic!("the loader's own")
}

fn call_250<Fut>(
    cache: &Cache<String>,
    loader: impl FnOnce(Load<String>) -> Fut + Copy + Send + 'static,
) -> JoinHandle<Vec<Result<Answer, tokio::task::JoinError>>>
where
    Fut: Future<Output = Result<String, String>> + Send + 'static,
{
    let callers: Vec<_> = (0..250).map(|_| call(cache, "a", loader)).collect();
    tokio::spawn(join_all(callers))
}

// moka Q3: 201 loads for 250 callers of a panicking loader.
pub(crate) async fn everybody_hears_of_a_panic(rig: impl Rig) {
    let cache = rig.cache();
    for answer in at_once(&rig, call_250(&cache, panics)).await {
        assert!(matches!(answer.unwrap(), Err(LoadError::Panicked)));
    }
    assert_eq!(cache.stats().load_failures, 1);
}

pub(crate) async fn everybody_hears_of_a_panic_before_the_first_await(rig: impl Rig) {
    let cache = rig.cache();
    for answer in at_once(&rig, call_250(&cache, panics_at_once)).await {
        assert!(matches!(answer.unwrap(), Err(LoadError::Panicked)));
    }
    assert_eq!(cache.stats().load_failures, 1);
}

// moka #59, #43, C18: a panicked leader broke the key for those who came after.
pub(crate) async fn a_key_works_at_once_after_a_panic(rig: impl Rig) {
    let (cache, origin) = (rig.cache(), Origin::ready());
    for loader in [panics, panics_at_once] {
        assert!(matches!(cache.get_or_load("a", loader).await, Err(LoadError::Panicked)));
        // Who comes before the lease is given back hears of the same panic.
        rig.settle().await;
        assert_eq!(text(&cache.get_or_load("a", origin.gives("A")).await), "A");
        cache.invalidate("a").await;
    }
}

// Altinn PR 4300, C21: the time-out freed the waiters, but the hung load kept the key.
pub(crate) async fn a_hung_load_ends_at_its_timeout_and_another_may_run(rig: impl Rig) {
    let cache = rig.builder("case").load_timeout(SECOND * 10).failure_for(SECOND).build().unwrap();
    let (hung, origin) = (Origin::paused(), Origin::ready());
    let callers: Vec<_> = (0..20).map(|_| call(&cache, "a", hung.gives("late"))).collect();
    rig.pass(SECOND * 9).await;
    assert!(callers.iter().all(|caller| !caller.is_finished()));
    rig.pass(SECOND).await;
    for answer in at_once(&rig, tokio::spawn(join_all(callers))).await {
        assert!(matches!(answer.unwrap(), Err(LoadError::TimedOut)));
    }
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("A")).await), "A");
    hung.let_go();
    rig.settle().await;
    assert_eq!((hung.calls(), cache.get("a").await.unwrap().as_str()), (1, "A"));
}

// C21: the late result of a hung load was stored, over that of its successor or in an empty place.
pub(crate) async fn the_late_result_of_a_hung_load_is_stored_nowhere(rig: impl Rig) {
    let cache = rig.builder("case").load_timeout(SECOND).failure_for(SECOND).build().unwrap();
    let (late, blocked) = std::sync::mpsc::channel::<String>();
    let (has_ended, mut ended) = tokio::sync::mpsc::channel::<()>(1);
    let hung = call(&cache, "a", async |_| {
        // What blocks a thread hears of no cancellation.
        let blocking = move || (blocked.recv().map_err(|error| error.to_string()), has_ended).0;
        tokio::task::spawn_blocking(blocking).await.map_err(|error| error.to_string())?
    });
    rig.pass(SECOND).await;
    assert!(matches!(at_once(&rig, hung).await, Err(LoadError::TimedOut)));
    late.send("late".to_owned()).unwrap();
    assert_eq!(ended.recv().await, None);
    rig.pass(SECOND).await;
    assert!(matches!(cache.read("a").await, Read::Miss));
    assert_eq!(text(&cache.get_or_load("a", Origin::ready().gives("A")).await), "A");
}

// cachebox, flask-caching, C49: an error was remembered as "there is none".
pub(crate) async fn a_failure_is_remembered_neither_as_value_nor_as_absence(rig: impl Rig) {
    let cache = rig.builder("case").absent_for(LIFE).failure_for(SECOND).build().unwrap();
    let origin = Origin::ready();
    let fails = origin.answers::<Result<Option<String>, String>>(Err("no".to_owned()));
    assert!(matches!(cache.find_or_load("a", fails).await, Err(LoadError::Failed(_))));
    assert!(matches!(cache.read("a").await, Read::Miss));
    rig.pass(SECOND).await;
    let found = cache.find_or_load("a", origin.finds(Some("A"))).await.unwrap();
    assert_eq!(found.unwrap().as_str(), "A");
}

pub(crate) async fn a_stale_value_stands_in_for_a_failing_load(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).build().unwrap();
    let origin = Origin::paused();
    put_stale(&rig, &cache, "a", "old").await;
    let mut callers: Vec<_> = (0..10).map(|_| call(&cache, "a", origin.fails("no"))).collect();
    rig.settle().await;
    callers.extend((0..10).map(|_| call(&cache, "a", origin.fails("late"))));
    rig.settle().await;
    origin.let_go();
    for answer in at_once(&rig, tokio::spawn(join_all(callers))).await {
        assert_eq!(text(&answer.unwrap()), "old");
    }
    assert_eq!(origin.calls(), 1);
}

pub(crate) async fn a_stale_value_stands_in_for_a_panic_and_a_timeout(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).load_timeout(SECOND).build().unwrap();
    put_stale(&rig, &cache, "a", "old").await;
    assert_eq!(text(&cache.get_or_load("a", panics).await), "old");
    rig.pass(SECOND * 2).await;
    let hung = call(&cache, "a", Origin::paused().gives("new"));
    rig.pass(SECOND).await;
    assert_eq!(text(&at_once(&rig, hung).await), "old");
}

// FusionCache #332, C50: a failing load prolonged the life of what it could not replace.
pub(crate) async fn a_failing_load_leaves_the_life_of_a_stale_value_alone(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).failure_for(SECOND).build().unwrap();
    let origin = Origin::ready();
    put_stale(&rig, &cache, "a", "old").await;
    for _ in 0..2 {
        rig.pass(LIFE / 3).await;
        assert_eq!(text(&cache.get_or_load("a", origin.fails("no")).await), "old");
    }
    rig.pass(LIFE / 3).await;
    failed(cache.get_or_load("a", origin.fails("no")).await);
}

// C50, in the background.
pub(crate) async fn a_failing_refresh_leaves_a_stale_value_alone(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).refresh(Refresh::Stale).build().unwrap();
    let origin = Origin::ready();
    put_stale(&rig, &cache, "a", "old").await;
    let Read::Hit(before) = cache.read("a").await else { panic!("the value is kept") };
    for loader in [panics, panics_at_once] {
        assert_eq!(text(&cache.get_or_load("a", loader).await), "old");
        rig.pass(SECOND * 2).await;
    }
    assert_eq!(text(&cache.get_or_load("a", origin.fails("no")).await), "old");
    rig.settle().await;
    let Read::Hit(after) = cache.read("a").await else { panic!("the value is kept") };
    assert_eq!((after.id, after.is_stale(), origin.calls()), (before.id, true, 1));
    rig.pass(LIFE).await;
    assert!(matches!(cache.read("a").await, Read::Miss));
}

// A stale value's readers hammered an origin that had just failed.
pub(crate) async fn beside_a_stale_value_a_failure_is_not_tried_again_at_once(rig: impl Rig) {
    let cache = rig.builder("case").stale_for(LIFE).failure_for(SECOND).build().unwrap();
    let origin = Origin::ready();
    put_stale(&rig, &cache, "a", "old").await;
    for _ in 0..20 {
        assert_eq!(text(&cache.get_or_load("a", origin.fails("no")).await), "old");
    }
    assert_eq!(origin.calls(), 1);
    rig.pass(SECOND).await;
    assert_eq!(text(&cache.get_or_load("a", origin.gives("new")).await), "new");
}

//! A `Forebay` and the runtimes around it.

use std::{convert::Infallible, time::Duration};

use forebay::{
    ErrorKind, Forebay,
    cache::{Cache, Invalidated, LoadError, Put},
};
use futures::FutureExt;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().expect("a thread can be had")
}

/// A cache with the value 1 under "a", whose runtime is gone.
fn orphan() -> Cache<u64> {
    let first = runtime();
    first.block_on(async {
        let forebay = Forebay::builder("orphan").memory().build().await.expect("nothing to refuse");
        let cache = forebay.cache("numbers", Duration::from_secs(60)).build().expect("the options fit");
        cache.get_or_load("a", async |_| Ok::<u64, Infallible>(1)).await.expect("the loader succeeds");
        cache
    })
}

#[test]
fn a_change_is_done_although_the_runtime_of_the_cache_is_gone() {
    let cache = orphan();
    runtime().block_on(async {
        assert_eq!(cache.invalidate("a").await, Invalidated::Everywhere);
        assert_eq!(cache.get("a").await, None);
        assert_eq!(cache.put("a", 2).await.unwrap(), Put::Stored);
        assert_eq!(cache.get("a").await.as_deref(), Some(&2));
    });
}

#[test]
fn a_load_is_refused_when_the_runtime_of_the_cache_is_gone() {
    let cache = orphan();
    runtime().block_on(async {
        let answer = cache.get_or_load("b", async |_| Ok::<u64, Infallible>(1)).await;
        let refusal = answer.unwrap_err();
        assert!(
            matches!(refusal, LoadError::Overloaded) && refusal.to_string().contains("runtime"),
            "{refusal}"
        );
        assert_eq!(*cache.get_or_load("a", async |_| Ok::<u64, Infallible>(9)).await.unwrap(), 1);
    });
}

#[test]
fn callers_of_several_runtimes_share_one_load() {
    let (first, second) = (runtime(), runtime());
    let forebay = first.block_on(Forebay::builder("shared").memory().build()).unwrap();
    let cache: Cache<u64> = forebay.cache("numbers", Duration::from_secs(60)).build().unwrap();
    let load = |value: u64| {
        let cache = cache.clone();
        async move {
            let loader = async move |_| {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Ok::<u64, Infallible>(value)
            };
            *cache.get_or_load("a", loader).await.unwrap()
        }
    };
    let (here, there) = (first.spawn(load(1)), second.spawn(load(2)));
    let answers = first.block_on(async { (here.await.unwrap(), there.await.unwrap()) });
    assert_eq!((answers.0, cache.stats().loads), (answers.1, 1));
}

#[test]
fn outside_a_runtime_none_is_built() {
    let built = Forebay::builder("nowhere").memory().build().now_or_never().unwrap();
    let refusal = built.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Config);
    assert!(refusal.to_string().contains("Tokio"), "{refusal}");
}

#[tokio::test]
async fn a_budget_of_redis_that_bounds_nothing_is_refused_by_name() {
    for budget in [Duration::ZERO, Duration::from_millis(60_001), Duration::MAX] {
        let built = Forebay::builder("patient").memory().redis_budget(budget).build().await;
        let refusal = built.unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Config);
        assert!(refusal.to_string().contains("redis_budget"), "{refusal}");
    }
    assert!(Forebay::builder("patient").memory().redis_budget(Duration::from_secs(60)).build().await.is_ok());
}

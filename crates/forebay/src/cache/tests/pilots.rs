//! Callers that fly their flight by themselves, and are then neither polled nor dropped.

use std::{
    convert::Infallible,
    sync::{Arc, mpsc},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture, poll};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{error::Elapsed, timeout},
};

use super::{LIFE, cache, fixture, process, settle, stores::Gated};
use crate::{
    cache::{Abandoned, Cache, LoadError, options::Options},
    codec::{Codec, MessagePack, Payload},
    error::Error,
};

/// More than anything here takes, on however busy a machine.
const LONG: Duration = Duration::from_secs(60);

type Answer = Result<u64, LoadError<Infallible>>;

/// A process without memory of its own over a store with gates.
fn gated(abandoned: Abandoned) -> (Cache<u64>, Arc<Gated>) {
    let (common, _) = cache();
    let gated = Gated::over(common.inner.backend.clone());
    let behind_gates = gated.clone();
    let options = Options { local_time_to_live: Duration::ZERO, abandoned, ..common.options().clone() };
    (process(&common, options, |_| behind_gates), gated)
}

/// A caller that has not begun, whose loader gives `value`.
fn caller(cache: &Cache<u64>, value: u64) -> BoxFuture<'static, Answer> {
    let cache = cache.clone();
    Box::pin(async move {
        let answer = cache.get_or_load("a", async move |_| Ok(value)).await;
        answer.map(|value| *value)
    })
}

/// A caller that waits for an answer of the store, and that nobody polls any more.
async fn idle(cache: &Cache<u64>, gated: &Gated) -> BoxFuture<'static, Answer> {
    gated.read.close();
    let mut caller = caller(cache, 1);
    assert!(poll!(&mut caller).is_pending());
    caller
}

async fn in_time<T>(work: impl Future<Output = T>) -> Result<T, Elapsed> {
    timeout(LONG, work).await
}

#[tokio::test]
async fn a_read_that_finds_its_value_takes_no_task() {
    let (cache, gated) = gated(Abandoned::Finish);
    cache.put("a", 7).await.unwrap();
    settle().await;
    let before = Handle::current().metrics().num_alive_tasks();
    let idle = idle(&cache, &gated).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    gated.read.reopen();
    assert_eq!(idle.await.unwrap(), 7);
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
}

// tokio's "futurelock": who waits for what an idle future holds waits for ever.
#[tokio::test]
async fn nobody_waits_for_a_first_caller_that_is_not_polled() {
    let (cache, gated) = gated(Abandoned::Finish);
    let idle = idle(&cache, &gated).await;
    let joins = tokio::spawn(caller(&cache, 2));
    settle().await;
    gated.read.reopen();
    assert_eq!(in_time(joins).await.unwrap().unwrap().unwrap(), 1);
    assert_eq!(in_time(idle).await.unwrap().unwrap(), 1);
    assert_eq!(cache.stats().loads, 1);
}

#[tokio::test]
async fn a_shutdown_lets_the_read_of_a_caller_that_is_not_polled_end() {
    let (cache, gated) = gated(Abandoned::Finish);
    cache.put("a", 7).await.unwrap();
    let idle = idle(&cache, &gated).await;
    let context = cache.inner.shared.context.clone();
    let shutdown = tokio::spawn(async move { context.tasks.shut_down(&context.clock, LONG).await });
    settle().await;
    assert!(!shutdown.is_finished());
    gated.read.reopen();
    assert!(in_time(shutdown).await.unwrap().unwrap());
    assert_eq!(in_time(idle).await.unwrap().unwrap(), 7);
}

#[tokio::test]
async fn so_does_one_for_a_read_that_was_overtaken() {
    let (cache, gated) = gated(Abandoned::Finish);
    cache.put("a", 7).await.unwrap();
    let idle = idle(&cache, &gated).await;
    cache.invalidate("a").await;
    let context = cache.inner.shared.context.clone();
    let shutdown = tokio::spawn(async move { context.tasks.shut_down(&context.clock, LONG).await });
    settle().await;
    assert!(!shutdown.is_finished());
    gated.read.reopen();
    assert!(in_time(shutdown).await.unwrap().unwrap());
    assert_eq!(in_time(idle).await.unwrap().unwrap(), 7);
}

#[tokio::test]
async fn a_load_goes_on_although_its_caller_is_not_polled() {
    let (cache, _) = gated(Abandoned::Finish);
    let (go, gone) = oneshot::channel();
    let loader = async move |_| {
        gone.await.ok();
        Ok::<_, Infallible>(1)
    };
    let mut idle = Box::pin(cache.get_or_load("a", loader));
    for _ in 0..64 {
        assert!(poll!(&mut idle).is_pending());
        settle().await;
    }
    go.send(()).unwrap();
    settle().await;
    assert_eq!(cache.get("a").await.as_deref(), Some(&1));
    assert_eq!(*in_time(idle).await.unwrap().unwrap(), 1);
}

#[tokio::test]
async fn a_flight_goes_on_although_its_only_caller_leaves_during_the_read() {
    let (cache, gated) = gated(Abandoned::Finish);
    drop(idle(&cache, &gated).await);
    gated.read.reopen();
    settle().await;
    assert_eq!(cache.get("a").await.as_deref(), Some(&1));
    assert_eq!(cache.stats().cancelled_waits, 1);
}

#[tokio::test]
async fn or_ends_if_it_is_to_be_cancelled() {
    let (cache, gated) = gated(Abandoned::Cancel);
    drop(idle(&cache, &gated).await);
    settle().await;
    assert!(cache.inner.flights.is_empty());
    gated.read.reopen();
    settle().await;
    assert_eq!(cache.get("a").await, None);
    assert_eq!(cache.stats().cancelled_waits, 1);
}

/// Writes as MessagePack, and cannot read.
struct Broken;

impl Codec<u64> for Broken {
    fn id(&self) -> u8 {
        Codec::<u64>::id(&MessagePack)
    }

    fn encode(&self, value: &u64) -> Result<Payload, Error> {
        MessagePack.encode(value)
    }

    fn decode(&self, _: Payload) -> Result<u64, Error> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_codec_that_panics_is_a_failure_and_takes_nobody_along() {
    let (common, _) = cache();
    let (shared, backend) = (common.inner.shared.clone(), common.inner.backend.clone());
    let options = Options { local_time_to_live: Duration::ZERO, ..Options::new(LIFE) };
    let cache = Cache::from(fixture::inner(shared, options, Broken, backend));
    cache.put("a", 7).await.unwrap();
    assert!(matches!(caller(&cache, 1).await, Err(LoadError::Panicked)));
    assert!(cache.inner.flights.is_empty());
}

/// The machine's time, which only a runtime has.
#[test]
fn who_is_on_no_runtime_flies_nothing() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let cache = runtime.block_on(async { cache().0 });
    let tasks = cache.inner.shared.context.tasks.clone();
    let flight = cache.inner.new_flight(false, false);
    let (done, ended) = mpsc::channel();
    let sleeps = async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        done.send(()).unwrap();
    };
    flight.helm.begin(Box::pin(sleeps), &tasks);
    assert!(flight.helm.fly(&tasks).now_or_never().is_some());
    ended.recv_timeout(LONG).expect("a task sleeps");
}

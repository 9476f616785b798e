//! One load across processes, however many callers each of them has, and whatever becomes of the load.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use forebay_rig::{Redis, unless_starved};
use forebay_trials::{
    crew::{self, Worker},
    moment::Moment,
    order::{Answer, Call, Load, Order, Origin, Outcome, Setup},
};
use futures::future::join_all;
use tokio::runtime::Runtime;

const CALLERS: usize = 1_000;
const LEASE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_millis(250);

/// How long a load takes during which its process is killed.
const LOAD: Duration = Duration::from_millis(2_400);

/// Trials beside each other would starve each other's Redis.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Four processes over one Redis.
struct Trial {
    crew: Vec<Worker>,
    redis: Redis,
}

impl Trial {
    async fn start() -> Self {
        let redis = Redis::start();
        let setup = Setup {
            redis: redis.url(),
            // A machine that is busy with something else may keep Redis from answering for longer than usual.
            budget_ms: Some(1_000),
            lease_ms: Some(1_000),
            max_bytes: Some(10_000),
            ..Setup::default()
        };
        let crew = crew::start(4, &setup).await;
        Self { crew, redis }
    }

    /// What the callers of each process get; of one that is killed, nothing.
    async fn everybody_asks(&self, origin: Origin) -> Vec<Vec<Call>> {
        let order = Order::Load { id: "a".into(), callers: CALLERS, origin };
        let asked = self.crew.iter().map(|worker| worker.ask(order.clone()));
        join_all(asked).await.into_iter().map(calls).collect()
    }

    /// The loads of each process.
    async fn loads(&self) -> Vec<Vec<Load>> {
        join_all(self.crew.iter().map(Worker::loads)).await
    }

    fn ends(self) {
        drop(self.crew);
        assert_eq!(self.redis.keys_without_expiry(), Vec::<String>::new());
    }
}

fn calls(answer: Option<Answer>) -> Vec<Call> {
    match answer {
        Some(Answer::Done(calls)) => calls,
        None => Vec::new(),
        other => panic!("{other:?}"),
    }
}

fn outcomes<'a>(calls: impl IntoIterator<Item = &'a Call>) -> BTreeMap<String, usize> {
    let mut outcomes = BTreeMap::new();
    for call in calls {
        *outcomes.entry(format!("{:?}", call.outcome)).or_default() += 1;
    }
    outcomes
}

/// How long after `since` 99 of 100 callers had their answer.
fn p99<'a>(calls: impl IntoIterator<Item = &'a Call>, since: Moment) -> Duration {
    let mut took: Vec<Duration> = calls.into_iter().map(|call| call.ended.since(since)).collect();
    took.sort_unstable();
    took[took.len() * 99 / 100]
}

/// Answers `what` came late if it took longer than `most`.
fn late(what: &str, took: Duration, most: Duration) -> Result<(), String> {
    if took <= most { Ok(()) } else { Err(format!("{what}: {took:?} instead of {most:?}")) }
}

/// Runs a trial, which panics at what is wrong, and answers what came late.
fn try_out(trial: impl AsyncFn() -> Result<(), String>) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    unless_starved(|| Runtime::new().unwrap().block_on(trial()));
}

async fn one_load(origin: Origin) -> Result<(), String> {
    let trial = Trial::start().await;

    let calls = trial.everybody_asks(origin).await;

    let loads: Vec<Load> = trial.loads().await.concat();
    let [load] = loads.as_slice() else { panic!("{loads:?}") };
    let outcomes = outcomes(calls.iter().flatten());
    assert!(
        outcomes.len() == 1 && outcomes.keys().all(|outcome| outcome.starts_with("Value")),
        "{outcomes:?}"
    );
    assert_eq!(calls.concat().len(), 4 * CALLERS);
    println!("one load, all have it {:?} after its end", p99(calls.iter().flatten(), load.ended.unwrap()));
    trial.ends();
    Ok(())
}

#[test]
fn four_processes_make_one_load() {
    try_out(async || one_load(Origin::Counter { ms: 200, bytes: 0 }).await);
}

#[test]
fn a_load_that_outlasts_its_lease_is_made_once() {
    try_out(async || one_load(Origin::Counter { ms: 2_400, bytes: 0 }).await);
}

#[test]
fn after_the_death_of_the_loading_process_one_other_loads() {
    try_out(one_dies);
}

async fn one_dies() -> Result<(), String> {
    let trial = Trial::start().await;
    let kill = async {
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        let loads = trial.loads().await;
        let loader = loads.iter().position(|loads| !loads.is_empty());
        assert!(loads.concat().len() <= 1, "{loads:?}");
        let killed = loader.map(|loader| {
            println!("killing {}", trial.crew[loader].pid());
            trial.crew[loader].kill();
            (loader, Moment::now(), loads[loader][0].began)
        });
        killed.filter(|(_, when, began)| when.since(*began) < LOAD)
    };

    let ms = LOAD.as_millis().try_into().unwrap();
    let (calls, killed) = tokio::join!(trial.everybody_asks(Origin::Counter { ms, bytes: 0 }), kill);
    let (killed, when, _) = killed.ok_or("nobody loaded when one was to be killed")?;

    let alive = trial.crew.iter().enumerate().filter(|(worker, _)| *worker != killed);
    let loads = join_all(alive.map(|(_, worker)| worker.loads())).await.concat();
    let [load] = loads.as_slice() else { panic!("{loads:?}") };
    let gap = load.began.since(when);
    println!("the next load begins {gap:?} after the kill");
    assert_eq!(calls[killed], []);
    assert_eq!(outcomes(calls.iter().flatten()).values().collect::<Vec<_>>(), [&(3 * CALLERS)]);
    trial.ends();
    late("the next load", gap, LEASE + Duration::from_secs(1))
}

#[test]
fn a_failure_ends_the_wait_of_every_process() {
    try_out(one_fails);
}

async fn one_fails() -> Result<(), String> {
    let trial = Trial::start().await;

    let calls = trial.everybody_asks(Origin::Failure { ms: 1_500 }).await;

    let loads = trial.loads().await;
    let loader = loads.iter().position(|loads| !loads.is_empty()).unwrap();
    let loads = loads.concat();
    let [load] = loads.as_slice() else { panic!("{loads:?}") };
    for (worker, calls) in calls.iter().enumerate() {
        let expected = if worker == loader { Outcome::Failed } else { Outcome::FailedElsewhere };
        assert!(calls.iter().all(|call| call.outcome == expected), "{:?}", outcomes(calls));
    }
    let took = p99(calls.iter().flatten(), load.ended.unwrap());
    println!("99 of 100 callers know of the failure {took:?} after it");
    trial.ends();
    late("the failure", took, SOON)
}

#[test]
fn a_value_too_large_to_be_stored_is_loaded_once_by_each_process() {
    try_out(one_is_too_large);
}

async fn one_is_too_large() -> Result<(), String> {
    let trial = Trial::start().await;

    let calls = trial.everybody_asks(Origin::Counter { ms: 1_500, bytes: 20_000 }).await;

    let loads = trial.loads().await;
    assert!(loads.iter().all(|loads| loads.len() == 1), "{loads:?}");
    let mut loads = loads.concat();
    loads.sort_unstable_by_key(|load| load.began);
    let first = loads[0].ended.unwrap();
    assert!(loads[1].began >= first, "{loads:?}");
    let took = loads[3].began.since(first);
    println!("the others begin to load at most {took:?} after the end of the first load");
    let outcomes = outcomes(calls.iter().flatten());
    assert_eq!(outcomes.values().collect::<Vec<_>>(), [&CALLERS; 4], "{outcomes:?}");
    trial.ends();
    late("the loads of the others", took, SOON)
}

//! Thousands of random steps in four processes, each behind a network of its own that delays, loses and cuts; what
//! they saw is then checked against the promises.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clients;
mod faults;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};

use forebay::testing::Proxy;
use forebay_rig::Redis;
use forebay_trials::{
    crew::{Worker, program},
    history::{History, Process, Step},
    moment::Moment,
    order::Setup,
};
use futures::future::join_all;
use tempfile::TempDir;

const STEPS: usize = 12_000;
const CLIENTS: u64 = 6;
const BUDGET_MS: u64 = 1_000;

/// Names the seed to play again.
const SEED: &str = "TRIAL_SEED";

/// Four processes; the last has no process memory.
struct World {
    workers: Vec<Worker>,
    proxies: Vec<Proxy>,
    left: AtomicUsize,
}

impl World {
    async fn start(redis: &Redis, folder: &TempDir) -> Self {
        let server = format!("127.0.0.1:{}", redis.port());
        let (mut workers, mut proxies) = (Vec::new(), Vec::new());
        for local_ms in [None, None, None, Some(0)] {
            let proxy = Proxy::start(&*server).await.unwrap();
            let setup = Setup {
                redis: proxy.url(),
                budget_ms: Some(BUDGET_MS),
                lease_ms: Some(1_000),
                stale_ms: 60_000,
                local_ms,
                database: Some(folder.path().join("rows")),
                ..Setup::default()
            };
            workers.push(Worker::start(&program(), &setup).await);
            proxies.push(proxy);
        }
        println!("processes {:?}", workers.iter().map(Worker::pid).collect::<Vec<_>>());
        Self { workers, proxies, left: AtomicUsize::new(STEPS) }
    }

    /// Whether one more step is to be done.
    fn goes_on(&self) -> bool {
        self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn is_over(&self) -> bool {
        self.left.load(SeqCst) == 0
    }

    async fn processes(&self) -> Vec<Process> {
        let reports = join_all(self.workers.iter().map(Worker::report)).await;
        println!("gaps {:?}", reports.iter().map(|report| report.gaps).collect::<Vec<_>>());
        println!("refused fills {:?}", reports.iter().map(|report| report.refused_fills).collect::<Vec<_>>());
        let limits = reports.iter().map(|report| Process {
            bound: Duration::from_millis(report.bound_ms),
            budget: Duration::from_millis(BUDGET_MS),
        });
        let mut limits: Vec<_> = limits.collect();
        limits.last_mut().unwrap().bound = Duration::ZERO;
        limits
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_random_history_breaks_a_promise() {
    let seed = std::env::var(SEED).map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
    println!("{SEED}={seed}");
    let (redis, folder) = (Redis::start(), TempDir::new().unwrap());
    let world = World::start(&redis, &folder).await;
    let began = Moment::now();

    let (steps, outages) = tokio::join!(clients::play(&world, seed), faults::play(&world, seed));

    let loads = join_all(world.workers.iter().map(Worker::loads)).await;
    let loads =
        loads.into_iter().enumerate().flat_map(|(at, loads)| loads.into_iter().map(move |load| (at, load)));
    let history = History { steps, loads: loads.collect(), outages, processes: world.processes().await };
    tell(&history, &world, began);
    let violations = history.violations();
    for violation in &violations {
        println!("{violation}");
    }
    assert!(violations.is_empty(), "{} violations; play again with {SEED}={seed}", violations.len());
    assert!(history.steps.len() >= 10_000);
    drop(world);
    assert_eq!(redis.keys_without_expiry(), Vec::<String>::new());
}

fn tell(history: &History, world: &World, began: Moment) {
    let took = Moment::now().since(began);
    let (steps, loads, outages) = (history.steps.len(), history.loads.len(), history.outages.len());
    let dropped: u64 = world.proxies.iter().map(Proxy::dropped).sum();
    println!(
        "{steps} steps and {loads} loads in {took:?}, {dropped} messages lost, {outages} times no Redis"
    );
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for step in &history.steps {
        *kinds.entry(kind(step)).or_default() += 1;
    }
    println!("{kinds:?}");
}

/// What was called and what came of it, without the numbers.
fn kind(step: &Step) -> String {
    let word = |debug: String| debug.split([' ', '(']).next().unwrap_or_default().to_owned();
    format!("{} {}", word(format!("{:?}", step.act)), word(format!("{:?}", step.call.outcome)))
}

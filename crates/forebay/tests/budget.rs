//! The budget of process memory: it holds at every moment, and leases are not what it costs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use forebay::{
    Forebay,
    cache::{Cache, Filled, Lease, Lookup},
    dice::Dice,
};
use futures::future::join_all;

const BUDGETS: [u64; 3] = [64 << 10, 1 << 20, 8 << 20];
const LIFE: Duration = Duration::from_secs(60);

/// The largest payload that the spaces under test store.
const LARGEST: usize = 1 << 20;

async fn forebay(budget: u64) -> Forebay {
    Forebay::builder("budget").memory().local_bytes(budget).build().await.expect("nothing to refuse")
}

fn cache(forebay: &Forebay) -> Cache<String> {
    forebay
        .cache("soak", LIFE)
        .max_bytes(LARGEST)
        .compress_above(usize::MAX)
        .build()
        .expect("the options fit")
}

/// Looks at the memory in use all the time, on a thread of its own.
struct Watch {
    stop: Arc<AtomicBool>,
    most: Arc<AtomicU64>,
    thread: thread::JoinHandle<()>,
}

impl Watch {
    fn begin(forebay: &Forebay) -> Self {
        let (stop, most) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (forebay, stopped, peak) = (forebay.clone(), stop.clone(), most.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(SeqCst) {
                peak.fetch_max(forebay.local_bytes(), SeqCst);
                thread::yield_now();
            }
        });
        Self { stop, most, thread }
    }

    /// The most that was in use.
    fn end(self) -> u64 {
        self.stop.store(true, SeqCst);
        self.thread.join().expect("watching does not panic");
        self.most.load(SeqCst)
    }
}

/// Loads, puts and forgets values of up to `largest` bytes, most of them tiny.
async fn churn(cache: Cache<String>, seed: u64, steps: usize, largest: usize) {
    let dice = Dice::seeded(seed);
    let below = |end: usize| usize::try_from(dice.bits() % (end as u64)).expect("less than a usize");
    for _ in 0..steps {
        let id = below(2000).to_string();
        let size = [below(64), below(64), below(4096), below(largest)][below(4)].min(largest);
        let value = "x".repeat(size);
        match below(8) {
            0 => drop(cache.put(id, value).await),
            1 => drop(cache.invalidate(id).await),
            2 => drop(cache.put_absent_for(id, LIFE).await),
            _ => {
                let load = async move |_| {
                    tokio::task::yield_now().await;
                    Ok::<_, String>(value)
                };
                cache.get_or_load(id, load).await.expect("the loader succeeds");
            }
        }
    }
}

/// Has eight tasks churn values of up to `largest` bytes at a time; answers the most memory in use.
async fn soak(forebay: &Forebay, cache: &Cache<String>, largest: usize) -> u64 {
    let watch = Watch::begin(forebay);
    let tasks = (0..8).map(|seed| tokio::spawn(churn(cache.clone(), seed, 400, largest)));
    assert!(join_all(tasks).await.iter().all(Result::is_ok));
    watch.end()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_holds_while_values_come_and_go() {
    for budget in BUDGETS {
        let forebay = forebay(budget).await;
        let largest = usize::try_from(budget / 16).unwrap();
        let most = soak(&forebay, &cache(&forebay), largest).await;
        assert!(most <= budget && most > budget / 2, "{most} of {budget}");
    }
}

// C57: values that no room is left for are among them, both too large to be stored and too large to be kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_budget_holds_while_oversized_values_come_and_go() {
    for budget in BUDGETS {
        let forebay = forebay(budget).await;
        let most = soak(&forebay, &cache(&forebay), 2 * LARGEST).await;
        assert!(most <= budget, "{most} of {budget}");
    }
}

// C57: lru-cache makes room for what it cannot keep.
#[tokio::test]
async fn a_value_larger_than_the_budget_evicts_nothing() {
    let forebay = forebay(64 << 10).await;
    let cache = cache(&forebay);
    for id in 0..20 {
        cache.put(id.to_string(), "x".repeat(100)).await.unwrap();
    }
    for _ in 0..5 {
        let large = async |_| Ok::<_, String>("x".repeat(500 << 10));
        assert_eq!(cache.get_or_load("large", large).await.unwrap().len(), 500 << 10);
    }
    for id in 0..20 {
        assert!(cache.get(id.to_string()).await.is_some(), "{id} was evicted");
    }
}

#[tokio::test]
async fn a_running_load_counts() {
    let forebay = forebay(1 << 20).await;
    let cache = cache(&forebay);
    cache.put("a", "x".repeat(10_000)).await.unwrap();
    let before = forebay.local_bytes();
    let seen = forebay.clone();
    let load = async move |_| Ok::<_, String>(seen.local_bytes().to_string());
    let during: u64 = cache.get_or_load("b", load).await.unwrap().parse().unwrap();
    assert!(during >= before + 10_000, "{before}, then {during}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_are_never_evicted() {
    let forebay = forebay(64 << 10).await;
    let leased = forebay.cache::<String>("leased", LIFE).build().unwrap();
    let ids = (0..2000).map(|id| format!("lease {id}"));
    let leases: Vec<_> = join_all(ids.map(|id| lease(&leased, id))).await;
    soak(&forebay, &cache(&forebay), 4096).await;
    for lease in leases {
        assert_eq!(lease.fill("A".to_owned()).await.unwrap(), Filled::Stored);
    }
}

async fn lease(cache: &Cache<String>, id: String) -> Lease<String> {
    match cache.lookup(id, Duration::ZERO).lease(LIFE * 60).await {
        Lookup::Lease(lease) => lease,
        other => panic!("no lease: {other:?}"),
    }
}

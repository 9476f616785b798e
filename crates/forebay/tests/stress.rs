//! Callers of every kind on several threads and a real clock: no two loads of one key at a time, and no hang.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Forebay,
    cache::{Abandoned, Cache, Load, LoadError},
};
use tokio::{task::JoinSet, time};

const KEYS: u64 = 50;
const CALLERS: usize = 64;
const SPAN: Duration = Duration::from_secs(3);

/// What is seen of the loads from within them.
#[derive(Clone, Default)]
struct Watch(Arc<Seen>);

#[derive(Default)]
struct Seen {
    loads: AtomicUsize,
    /// Loads of one key that ran beside each other although nothing had overtaken the earlier one.
    doubled: AtomicUsize,
    keys: Mutex<HashMap<String, Key>>,
}

#[derive(Default)]
struct Key {
    /// The running loads, each by how many changes had ended when its caller came: one that has ended since
    /// may have overtaken it.
    running: Vec<usize>,
    changing: usize,
    changes: usize,
}

impl Watch {
    fn step<R>(&self, id: &str, step: impl FnOnce(&mut Key) -> R) -> R {
        step(self.0.keys.lock().unwrap().entry(id.to_owned()).or_default())
    }

    fn changes(&self, id: &str) -> usize {
        self.step(id, |key| key.changes)
    }

    fn begin(&self, id: &str, came: usize) -> Running {
        self.0.loads.fetch_add(1, SeqCst);
        self.step(id, |key| {
            let overtaken = |came: &usize| key.changing > 0 || *came < key.changes;
            if !overtaken(&came) && !key.running.iter().all(overtaken) {
                self.0.doubled.fetch_add(1, SeqCst);
            }
            key.running.push(came);
        });
        Running { watch: self.clone(), id: id.to_owned(), came }
    }

    async fn change<T>(&self, id: &str, change: impl Future<Output = T>) {
        self.step(id, |key| key.changing += 1);
        change.await;
        self.step(id, |key| {
            key.changing -= 1;
            key.changes += 1;
        });
    }
}

/// One load, until it is dropped.
struct Running {
    watch: Watch,
    id: String,
    came: usize,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.watch.step(&self.id, |key| {
            let at = key.running.iter().position(|came| *came == self.came);
            key.running.swap_remove(at.expect("the load has begun"));
        });
    }
}

/// A number below `sides`.
fn roll(sides: u64) -> u64 {
    rand::random_range(0..sides)
}

async fn load(watch: Watch, came: usize, load: Load<String>) -> Result<String, &'static str> {
    let _running = watch.begin(load.id(), came);
    match roll(20) {
        0 => panic!("the loader's own"),
        1 => return Err("at once"),
        2..6 => tokio::task::yield_now().await,
        _ => time::sleep(Duration::from_micros(roll(5000))).await,
    }
    match roll(20) {
        0 => panic!("the loader's own"),
        1 => Err("in the end"),
        _ => Ok(load.id().to_owned()),
    }
}

async fn call(cache: &Cache<String>, watch: &Watch, id: &str) {
    let (watch, came) = (watch.clone(), watch.changes(id));
    let loader = async move |loads| load(watch, came, loads).await;
    let answer = match roll(10) {
        0 => cache.fresh().get_or_load(id, loader).await,
        _ => cache.get_or_load(id, loader).await,
    };
    match answer {
        Ok(value) => assert_eq!(*value, id),
        Err(LoadError::Failed(_) | LoadError::FailedElsewhere { .. } | LoadError::Panicked) => {}
        Err(other) => panic!("{other:?}"),
    }
}

/// Acts on keys at random until `over`: most acts are calls, of which one in four is given up.
async fn act(cache: Cache<String>, watch: Watch, over: Arc<AtomicBool>) {
    while !over.load(SeqCst) {
        let id = roll(KEYS).to_string();
        let call = call(&cache, &watch, &id);
        match roll(20) {
            0 => watch.change(&id, cache.invalidate(&id)).await,
            1 => watch.change(&id, cache.put(&id, id.clone())).await,
            2 => drop(cache.lookup(&id, Duration::from_millis(1)).await),
            3..8 => {
                let patience = Duration::from_micros(roll(3000));
                drop(time::timeout(patience, call).await);
            }
            _ => call.await,
        }
    }
}

async fn stress(abandoned: Abandoned) -> Watch {
    let forebay = Forebay::builder("stress").memory().build().await.unwrap();
    let builder =
        forebay.cache::<String>("case", Duration::from_millis(5)).failure_for(Duration::from_millis(2));
    let cache = builder.abandoned(abandoned).load_concurrency(20).build().unwrap();
    let (watch, over) = (Watch::default(), Arc::new(AtomicBool::new(false)));
    let mut callers: JoinSet<()> =
        (0..CALLERS).map(|_| act(cache.clone(), watch.clone(), over.clone())).collect();
    time::sleep(SPAN).await;
    over.store(true, SeqCst);
    let all = async {
        while let Some(caller) = callers.join_next().await {
            caller.unwrap();
        }
    };
    time::timeout(Duration::from_secs(10), all).await.expect("nobody waits for ever");
    assert!(forebay.shutdown(Duration::from_secs(10)).await, "every load ends");
    assert!(watch.0.loads.load(SeqCst) > 1000);
    watch
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn loads_that_are_finished_for_nobody_never_run_beside_each_other() {
    assert_eq!(stress(Abandoned::Finish).await.0.doubled.load(SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn loads_that_are_cancelled_never_run_beside_their_successors() {
    assert_eq!(stress(Abandoned::Cancel).await.0.doubled.load(SeqCst), 0);
}

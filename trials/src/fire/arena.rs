//! The processes that want the lock, each in its seat behind a network of its own.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use forebay::testing::Proxy;
use forebay_rig::{Cluster, Redis};
use futures::future::join_all;
use tempfile::TempDir;

use super::{BUDGET, Fire, LIFE, callers, faults};
use crate::{
    crew::{Worker, program},
    ledger::Ledger,
    moment::Moment,
    order::Setup,
};

const PROCESSES: usize = 4;

/// How much later than one life after the end the lock may still be there.
const SLACK: Duration = Duration::from_millis(250);

/// What all of them share.
#[derive(Debug)]
pub enum Ground {
    /// A server, each process behind a proxy.
    One(Redis),
    /// Three nodes, whose clients know the way by themselves.
    Three(Cluster),
}

impl Ground {
    pub(super) fn nodes(&self) -> &[Redis] {
        match self {
            Self::One(redis) => std::slice::from_ref(redis),
            Self::Three(cluster) => cluster.nodes(),
        }
    }

    async fn way(&self) -> (String, Option<Proxy>) {
        match self {
            Self::One(redis) => {
                let server = format!("127.0.0.1:{}", redis.port());
                let proxy = Proxy::start(server).await.expect("a port is free");
                (proxy.url(), Some(proxy))
            }
            Self::Three(cluster) => (cluster.url(), None),
        }
    }

    fn locks(&self) -> Vec<String> {
        let keys = self.nodes().iter().map(|node| node.call(&["KEYS", "lock:*"]));
        keys.filter(|keys| !keys.is_empty()).collect()
    }
}

/// The place of a process, which may be killed and replaced.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) number: usize,
    pub(super) proxy: Option<Proxy>,
    setup: Setup,
    worker: Mutex<Arc<Worker>>,
}

impl Seat {
    async fn taken(number: usize, ground: &Ground, ledger: PathBuf) -> Self {
        let (redis, proxy) = ground.way().await;
        let budget_ms = Some(BUDGET.as_millis().try_into().expect("it is short"));
        let setup = Setup { redis, budget_ms, ledger: Some(ledger), ..Setup::default() };
        let worker = Arc::new(Worker::start(&program(), &setup).await);
        Self { number, proxy, setup, worker: Mutex::new(worker) }
    }

    pub(super) fn worker(&self) -> Arc<Worker> {
        lock(&self.worker).clone()
    }

    pub(super) async fn replace(&self) {
        let worker = Arc::new(Worker::start(&program(), &self.setup).await);
        *lock(&self.worker) = worker;
    }
}

/// What all parts of the play share.
#[derive(Debug)]
pub(super) struct Arena<'a> {
    pub(super) ground: &'a Ground,
    pub(super) seats: Vec<Seat>,
    pub(super) until: Moment,
    seen: Mutex<Fire>,
}

impl Arena<'_> {
    pub(super) fn is_over(&self) -> bool {
        Moment::now() >= self.until
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Fire> {
        lock(&self.seen)
    }
}

/// Plays for so long, and tells everything that happened.
///
/// # Panics
///
/// If a process does not start, or Redis or SQLite do not answer.
pub async fn play(ground: &Ground, length: Duration) -> Fire {
    let folder = TempDir::new().expect("a folder can be created");
    let path = folder.path().join("ledger");
    let ledger = Ledger::open(&path).await.expect("a new file can be opened");
    let seats = join_all((0..PROCESSES).map(|number| Seat::taken(number, ground, path.clone()))).await;
    let arena = Arena { ground, seats, until: Moment::now().after(length), seen: Mutex::default() };
    tokio::join!(callers::play(&arena), faults::play(&arena));
    let mut fire = arena.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    fire.left = left(ground).await;
    fire.landed = ledger.landed().await;
    fire
}

/// What is still there once everything must have ended.
async fn left(ground: &Ground) -> Vec<String> {
    let until = Moment::now().after(LIFE + SLACK);
    while !ground.locks().is_empty() && Moment::now() < until {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let for_ever = ground.nodes().iter().flat_map(Redis::keys_without_expiry);
    ground.locks().into_iter().chain(for_ever).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

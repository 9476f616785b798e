//! Random interleavings of loads, changes and reads against a register that only grows.
//!
//! Whoever begins a read once a change to version `v` is done must be given `v` or a later version.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Forebay,
    cache::{Cache, Lease, Load, LoadError, Lookup, Read},
    clock::Clock,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

const INTERLEAVINGS: u64 = 10_000;
const STEPS: usize = 24;

/// The origin: its version, and the least version that a read that begins now may give.
#[derive(Default)]
struct Register {
    version: AtomicU64,
    floor: AtomicU64,
}

impl Register {
    fn commit(&self) -> u64 {
        self.version.fetch_add(1, SeqCst) + 1
    }

    fn check(&self, seed: u64, what: &str, given: u64, floor: u64) {
        let version = self.version.load(SeqCst);
        assert!(
            (floor..=version).contains(&given),
            "seed {seed}: {what} gave {given}, allowed {floor}..={version}"
        );
    }
}

/// A load that has read the register and waits for the sign to answer.
type Paused = oneshot::Sender<bool>;

/// What one interleaving has under way.
struct Run {
    seed: u64,
    cache: Cache<u64>,
    register: Arc<Register>,
    dice: StdRng,
    starts: mpsc::UnboundedSender<Paused>,
    started: mpsc::UnboundedReceiver<Paused>,
    paused: Vec<Paused>,
    callers: Vec<JoinHandle<()>>,
    leases: Vec<(Lease<u64>, u64)>,
}

impl Run {
    fn new(seed: u64, cache: &Cache<u64>) -> Self {
        let (starts, started) = mpsc::unbounded_channel();
        let (cache, register, dice) = (cache.clone(), Arc::default(), StdRng::seed_from_u64(seed));
        Self { seed, cache, register, dice, starts, started, paused: vec![], callers: vec![], leases: vec![] }
    }

    fn id(&self) -> String {
        self.seed.to_string()
    }

    async fn step(&mut self) {
        while let Ok(load) = self.started.try_recv() {
            self.paused.push(load);
        }
        match self.dice.random_range(0..12) {
            0..3 => self.call(),
            3 | 4 => self.answer(true),
            5 => self.answer(false),
            6 => self.change().await,
            7 => self.put().await,
            8 => self.read().await,
            9 => self.look_up().await,
            10 => self.fill().await,
            _ => self.leave(),
        }
        for _ in 0..self.dice.random_range(0..12) {
            tokio::task::yield_now().await;
        }
    }

    fn call(&mut self) {
        let (cache, register, starts) = (self.cache.clone(), self.register.clone(), self.starts.clone());
        let (seed, id, fresh) = (self.seed, self.id(), self.dice.random_bool(0.2));
        let origin = register.clone();
        let loader = async move |_: Load<u64>| {
            let read = origin.version.load(SeqCst);
            let (go, gone) = oneshot::channel();
            starts.send(go).expect("the run outlives its loads");
            if gone.await.unwrap_or(false) { Ok(read) } else { Err("the origin failed") }
        };
        self.callers.push(tokio::spawn(async move {
            let floor = register.floor.load(SeqCst);
            let answer = match fresh {
                true => cache.fresh().get_or_load(id, loader).await,
                false => cache.get_or_load(id, loader).await,
            };
            match answer {
                Ok(given) => register.check(seed, "a load", *given, floor),
                Err(LoadError::Failed(_) | LoadError::FailedElsewhere { .. }) => {}
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }));
    }

    fn answer(&mut self, well: bool) {
        if !self.paused.is_empty() {
            let at = self.dice.random_range(0..self.paused.len());
            // A load whose callers have all left may be gone already.
            self.paused.swap_remove(at).send(well).ok();
        }
    }

    async fn change(&mut self) {
        let version = self.register.commit();
        if self.dice.random_bool(0.7) {
            self.cache.invalidate(self.id()).await;
        } else {
            self.cache.expire(self.id()).await;
        }
        self.register.floor.fetch_max(version, SeqCst);
    }

    async fn put(&mut self) {
        let version = self.register.commit();
        self.cache.put(self.id(), version).await.unwrap();
        self.register.floor.fetch_max(version, SeqCst);
    }

    async fn read(&mut self) {
        let floor = self.register.floor.load(SeqCst);
        if let Read::Hit(entry) = self.cache.read(self.id()).await {
            self.register.check(self.seed, "a read", *entry.value, floor);
        }
    }

    async fn look_up(&mut self) {
        let floor = self.register.floor.load(SeqCst);
        match self.cache.lookup(self.id(), Duration::ZERO).await {
            Lookup::Hit(entry) => self.register.check(self.seed, "a look-up", *entry.value, floor),
            Lookup::Lease(lease) => self.leases.push((lease, self.register.version.load(SeqCst))),
            _ => {}
        }
    }

    async fn fill(&mut self) {
        if let Some((lease, read)) = self.leases.pop() {
            let _verdict = lease.fill(read).await.unwrap();
        }
    }

    fn leave(&mut self) {
        if let Some(caller) = self.callers.pop() {
            caller.abort();
        }
    }

    /// Lets everything end, then looks at what is left in the levels.
    async fn end(mut self) {
        self.leases.clear();
        while self.callers.iter().any(|caller| !caller.is_finished()) {
            while let Ok(load) = self.started.try_recv() {
                self.paused.push(load);
            }
            self.answer(true);
            tokio::task::yield_now().await;
        }
        self.read().await;
        for caller in std::mem::take(&mut self.callers) {
            if let Err(failed) = caller.await
                && failed.is_panic()
            {
                std::panic::resume_unwind(failed.into_panic());
            }
        }
    }
}

async fn interleave(local_time_to_live: Duration) {
    let (clock, _) = Clock::manual();
    let forebay = Forebay::builder("register").memory().clock(clock).build().await.unwrap();
    let builder = forebay.cache::<u64>("register", Duration::from_secs(60));
    let cache = builder.local_time_to_live(local_time_to_live).build().unwrap();
    for seed in 0..INTERLEAVINGS {
        let mut run = Run::new(seed, &cache);
        for _ in 0..STEPS {
            run.step().await;
        }
        run.end().await;
    }
    let stats = cache.stats();
    assert!(stats.refused_fills > 100 && stats.coalesced > 100, "too tame to prove anything: {stats:?}");
}

#[tokio::test]
async fn nobody_is_given_a_version_from_before_a_change_that_was_done() {
    interleave(Duration::from_secs(60)).await;
}

#[tokio::test]
async fn nor_without_process_memory() {
    interleave(Duration::ZERO).await;
}

//! Random interleavings of loads, changes and reads against a register that only grows.
//!
//! Whoever begins a read once a change to version `v` is done must be given `v` or a later version. There are
//! two processes over one slow store, of which only the first has memory of its own, so that a change made in
//! the second binds only the second.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{LIFE, cache, process, settle, stores::Slow};
use crate::cache::{Cache, Lease, Load, LoadError, Lookup, Read, options::Options};

const INTERLEAVINGS: u64 = 10_000;
const STEPS: usize = 24;

/// The origin: its version, and the least version that a read that begins now in a process may give.
#[derive(Default)]
struct Register {
    version: AtomicU64,
    floors: [AtomicU64; 2],
}

impl Register {
    fn commit(&self) -> u64 {
        self.version.fetch_add(1, SeqCst) + 1
    }

    /// A change to `version` is done that was made in process `at`.
    fn done(&self, at: usize, version: u64) {
        for floor in &self.floors[at..] {
            floor.fetch_max(version, SeqCst);
        }
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
    processes: [Cache<u64>; 2],
    register: Arc<Register>,
    dice: StdRng,
    starts: mpsc::UnboundedSender<Paused>,
    started: mpsc::UnboundedReceiver<Paused>,
    paused: Vec<Paused>,
    callers: Vec<JoinHandle<()>>,
    leases: Vec<(Lease<u64>, u64)>,
}

impl Run {
    fn new(seed: u64, processes: &[Cache<u64>; 2]) -> Self {
        let (starts, started) = mpsc::unbounded_channel();
        let (processes, register, dice) = (processes.clone(), Arc::default(), StdRng::seed_from_u64(seed));
        Self {
            seed,
            processes,
            register,
            dice,
            starts,
            started,
            paused: vec![],
            callers: vec![],
            leases: vec![],
        }
    }

    /// A process by chance, and its number.
    fn process(&mut self) -> (Cache<u64>, usize) {
        let at = self.dice.random_range(0..2);
        (self.processes[at].clone(), at)
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
        let (cache, at) = self.process();
        let (register, starts) = (self.register.clone(), self.starts.clone());
        let (seed, id, fresh) = (self.seed, self.id(), self.dice.random_bool(0.2));
        let origin = register.clone();
        let loader = async move |_: Load<u64>| {
            let read = origin.version.load(SeqCst);
            let (go, gone) = oneshot::channel();
            // Without a run, nobody lets the load go.
            drop(starts.send(go));
            if gone.await.unwrap_or(false) { Ok(read) } else { Err("the origin failed") }
        };
        self.callers.push(tokio::spawn(async move {
            let floor = register.floors[at].load(SeqCst);
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
        let ((cache, at), version) = (self.process(), self.register.commit());
        if self.dice.random_bool(0.7) {
            cache.invalidate(self.id()).await;
        } else {
            cache.expire(self.id()).await;
        }
        self.register.done(at, version);
    }

    async fn put(&mut self) {
        let ((cache, at), version) = (self.process(), self.register.commit());
        cache.put(self.id(), version).await.expect("a number fits");
        self.register.done(at, version);
    }

    async fn read(&mut self) {
        let (cache, at) = self.process();
        let floor = self.register.floors[at].load(SeqCst);
        if let Read::Hit(entry) = cache.read(self.id()).await {
            self.register.check(self.seed, "a read", *entry.value, floor);
        }
    }

    async fn look_up(&mut self) {
        let (cache, at) = self.process();
        let floor = self.register.floors[at].load(SeqCst);
        match cache.lookup(self.id(), Duration::ZERO).await {
            Lookup::Hit(entry) => self.register.check(self.seed, "a look-up", *entry.value, floor),
            Lookup::Lease(lease) => self.leases.push((lease, self.register.version.load(SeqCst))),
            _ => {}
        }
    }

    async fn fill(&mut self) {
        if let Some((lease, read)) = self.leases.pop() {
            let _verdict = lease.fill(read).await.expect("a number fits");
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

#[tokio::test]
async fn nobody_is_given_a_version_from_before_a_change_that_was_done() {
    let (common, _) = cache();
    let options = Options { wait: LIFE, ..common.options().clone() };
    let memoryless = Options { local_time_to_live: Duration::ZERO, ..options.clone() };
    let processes = [
        process(&common, options, |store| Slow::over(store, 1)),
        process(&common, memoryless, |store| Slow::over(store, 2)),
    ];
    for seed in 0..INTERLEAVINGS {
        let mut run = Run::new(seed, &processes);
        for _ in 0..STEPS {
            run.step().await;
        }
        run.end().await;
    }
    settle().await;
    for process in processes {
        let stats = process.stats();
        assert!(process.inner.flights.is_empty(), "something is still under way");
        let tame = stats.refused_fills < 100 || stats.coalesced < 100 || stats.store_hits < 100;
        assert!(!tame, "too tame to prove anything: {stats:?}");
    }
}

//! Caches over Redis as contestants: crates, whose tasks run here, and programs of their own, asked the same.

use std::sync::Arc;

use anyhow::{Result, ensure};
use contest::Shared;
use drive::{Cost, Fill, Hits, Lateness, Miss, Order, Races, Rate, Rush, Stampede};
use forebay_rig::Redis;
use ours::OverRedis;
use peer_by_hand::{Locking, MokaOverRedis, Plain, Question};
use peer_cached::Cached;
use programs::Program;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

/// One Redis, and where the tasks of crates run.
pub(crate) struct Place {
    pub(crate) runtime: Runtime,
    pub(crate) redis: Redis,
}

/// Whether caches may keep values in their own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// As each does by itself.
    Usual,
    Off,
}

/// One cache in some processes.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    processes: Processes,
}

enum Processes {
    Crate(Vec<Arc<dyn Shared>>),
    Programs(Vec<Program>),
}

/// All that can be had.
pub(crate) struct Contestants {
    pub(crate) all: Vec<Contestant>,
    /// Why others are missing.
    pub(crate) missing: Vec<String>,
}

impl Place {
    pub(crate) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Self { runtime, redis: Redis::start() })
    }

    fn crates(&self, memory: Memory) -> Vec<Arc<dyn Shared>> {
        let (runtime, url) = (&self.runtime, &self.redis.url());
        let get = Arc::new(Plain::new(runtime, url, Question::Value));
        let cached = Arc::new(Cached::new(runtime, url));
        match memory {
            Memory::Usual => vec![
                Arc::new(OverRedis::new(runtime, url)),
                get,
                Arc::new(Locking::new(runtime, url)),
                Arc::new(MokaOverRedis::new(runtime, url)),
                cached,
            ],
            Memory::Off => vec![
                Arc::new(OverRedis::without_memory(runtime, url)),
                Arc::new(Plain::new(runtime, url, Question::LifeAndValue)),
                get,
                Arc::new(MokaOverRedis::without_memory(runtime, url)),
                cached,
            ],
        }
    }
}

impl Contestants {
    /// Each cache in so many processes. For a crate, a process is a connection of its own.
    pub(crate) fn start(place: &Place, processes: usize, memory: Memory) -> Self {
        let crates: Vec<_> = (0..processes).map(|_| place.crates(memory)).collect();
        let nth = |index: usize| crates.iter().map(|process| process[index].clone()).collect::<Vec<_>>();
        let crates = (0..crates[0].len()).map(nth);
        let mut all: Vec<_> = crates
            .map(|crates| Contestant { name: crates[0].name(), processes: Processes::Crate(crates) })
            .collect();
        let mut missing = Vec::new();
        for source in programs::CACHES {
            let started = (0..processes).map(|_| source.start(&place.redis.url(), &[]));
            match started.collect::<Result<_>>() {
                Ok(programs) => {
                    all.push(Contestant { name: source.name, processes: Processes::Programs(programs) });
                }
                Err(error) => missing.push(format!("{} ({error:#})", source.name)),
            }
        }
        Self { all, missing }
    }
}

impl Contestant {
    pub(crate) fn fill(&mut self, runtime: &Runtime, order: Fill) -> Result<Rate> {
        match &mut self.processes {
            Processes::Crate(crates) => Ok(runtime.block_on(drive::fill(&crates[0], order))),
            Processes::Programs(programs) => ask(&mut programs[0], &Order::Fill(order)),
        }
    }

    pub(crate) fn hits(&mut self, runtime: &Runtime, order: Hits) -> Result<Rate> {
        match &mut self.processes {
            Processes::Crate(crates) => Ok(runtime.block_on(drive::hits(&crates[..1], order))),
            Processes::Programs(programs) => ask(&mut programs[0], &Order::Hits(order)),
        }
    }

    /// Shared out to the first few of its processes.
    pub(crate) fn stampede(&mut self, runtime: &Runtime, order: Stampede, processes: usize) -> Result<Rush> {
        match &mut self.processes {
            Processes::Crate(crates) => Ok(runtime.block_on(drive::stampede(&crates[..processes], order))),
            Processes::Programs(programs) => rush(&mut programs[..processes], order),
        }
    }

    /// Its second process is who writes. A program has a second one in itself.
    pub(crate) fn races(&mut self, runtime: &Runtime, order: Races) -> Result<Lateness> {
        match &mut self.processes {
            Processes::Crate(crates) => {
                ensure!(crates.len() > 1, "a race needs two processes");
                Ok(runtime.block_on(drive::races(&crates[0], &crates[1], order)))
            }
            Processes::Programs(programs) => ask(&mut programs[0], &Order::Races(order)),
        }
    }

    pub(crate) fn miss(&mut self, runtime: &Runtime, order: Miss) -> Result<Cost> {
        match &mut self.processes {
            Processes::Crate(crates) => Ok(runtime.block_on(drive::miss(&crates[0], order))),
            Processes::Programs(programs) => ask(&mut programs[0], &Order::Miss(order)),
        }
    }
}

/// All processes are told before one is asked.
fn rush(programs: &mut [Program], order: Stampede) -> Result<Rush> {
    let callers = order.callers / programs.len();
    let line = serde_json::to_string(&Order::Stampede(Stampede { callers, ..order }))?;
    for program in &mut *programs {
        program.tell(&line)?;
    }
    let mut all = Rush::default();
    for program in programs {
        let Rush { loads, errors, waits } = program.answer()?;
        all = Rush {
            loads: all.loads + loads,
            errors: all.errors + errors,
            waits: [all.waits, waits].concat(),
        };
    }
    Ok(all)
}

fn ask<T: DeserializeOwned>(program: &mut Program, order: &Order) -> Result<T> {
    program.ask(&serde_json::to_string(order)?)
}

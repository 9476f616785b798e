//! More processes over one Redis.

use std::cell::{Cell, RefCell};

use anyhow::Result;
use forebay_rig::Redis;
use ours::{Compression, Grown};
use programs::Program;
use tally::rounds::{Samples, Side, figures, play};

use super::{
    Curve, Extent, Line, Scale,
    copies::{Copies, named},
    worker::{self, Order, Rushed, tell_all},
};

const PROCESSES: [u64; 4] = [1, 2, 4, 8];

const KEYS: u64 = 100_000;

/// In all processes together.
const CALLERS: usize = 1_000;

const ABOUT: &str = "\
Processes of the operating system, each with a runtime of two threads, over one Redis, all on this machine. 64 tasks in
each read values of 64 bytes, one each at a time; the figure is the hits of all processes. Then 1,000 callers, shared out
to the processes, ask for one missing key, whose load takes 200 ms.";

const BENDS: &str = "\
Hits of all processes add up until the cores are busy, which processes and Redis share here; where Redis has a core of its
own, until that is, as it carries out one command at a time. Beyond that, more processes cost each other the processor:
each switch empties its caches a little, and each process has fewer callers running at once that could share a write. One
missing key is one load in all processes: whoever has the lease loads, and the other processes are woken over Redis, which
takes them one message and one read each.";

pub(super) fn run(extent: &Extent) -> Result<Curve> {
    let redis = Redis::start();
    fill(&redis)?;
    let ats: Vec<u64> = PROCESSES.into_iter().filter(|&count| count <= extent.processes as u64).collect();
    let started = (0..extent.processes).map(|_| worker::start(&redis.url()));
    let workers = RefCell::new(started.collect::<Result<Vec<_>>>()?);
    let hits = hits(&workers, &ats, extent);
    let rushes = rushes(&workers, &ats);
    let loads = figures(&rushes, |one| one.loads as f64);
    let handovers = figures(&rushes, |one| one.milliseconds);
    Ok(Curve {
        name: "processes",
        title: "More processes",
        about: ABOUT,
        more: "processes",
        scale: Scale::Count,
        unit: "hits a second",
        lines: vec![Line::of("in Redis, all processes", &ats, hits)],
        beside: vec![
            Line::of("loads of one missing key", &ats, loads),
            Line::of("ms after it until 99 of 100 callers have it", &ats, handovers),
        ],
        bends: BENDS,
        missing: Vec::new(),
    })
}

/// The hits a second of all processes, by how many there are.
fn hits(workers: &RefCell<Vec<Program>>, ats: &[u64], extent: &Extent) -> Vec<Samples<f64>> {
    let order = &Order::Read { keys: KEYS, milliseconds: extent.span.as_millis() as u64 };
    let sides = ats.iter().map(|&count| {
        Side::new("hits", move || {
            let hits = tell_all::<f64>(&mut workers.borrow_mut()[..count as usize], order);
            hits.expect("processes that have started go on").iter().sum()
        })
    });
    play(sides.collect(), super::ROUNDS)
}

/// What comes of a missing key each time, by how many processes ask for it.
fn rushes(workers: &RefCell<Vec<Program>>, ats: &[u64]) -> Vec<Samples<Rushed>> {
    let next = &Cell::new(0);
    let sides = ats.iter().map(|&count| {
        Side::new("rush", move || {
            next.set(next.get() + 1);
            let (key, callers) = (format!("missing-{}", next.get()), CALLERS / count as usize);
            rush(&mut workers.borrow_mut()[..count as usize], &Order::Rush { key, callers })
        })
    });
    play(sides.collect(), super::ROUNDS)
}

fn fill(redis: &Redis) -> Result<()> {
    let runtime = super::runtime()?;
    let cache = Grown::over_redis(&runtime, &redis.url(), "growth", Compression::Usual);
    cache.put(&runtime, &named(0), &[b'v'; 64]);
    Copies::of(redis)?.grow_to(KEYS)
}

/// All loads, and how long the last process took.
fn rush(workers: &mut [Program], order: &Order) -> Rushed {
    let rushed = tell_all::<Rushed>(workers, order).expect("processes that have started go on");
    let loads = rushed.iter().map(|one| one.loads).sum();
    Rushed { loads, milliseconds: rushed.iter().map(|one| one.milliseconds).fold(0.0, f64::max) }
}

//! A process of its own: the benchmark started once more, to do what it is told over a pipe.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use contest::Step;
use futures::future::join_all;
use ours::{Compression, Grown};
use programs::Program;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::runtime::Runtime;

use super::{TASKS, missing::rush, reads::Reads};
use crate::stopwatch::Stopwatch;

/// What a process is told, as a line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Order {
    /// Read so many keys for a while. Answered by the hits a second.
    Read { keys: u64, milliseconds: u64 },
    /// Ask for a key that nobody has. Answered by [`Rushed`].
    Rush { key: String, callers: usize },
}

/// What came of it in one process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Rushed {
    pub(super) loads: u64,
    pub(super) milliseconds: f64,
}

/// Starts a process that waits to be told.
pub(super) fn start(url: &str) -> Result<Program> {
    let mut command = forebay_rig::dying(std::env::current_exe()?);
    command.args(["--worker", url]);
    Program::spawn("a process", command)
}

/// Tells all before one is asked for its answer.
pub(super) fn tell_all<T: DeserializeOwned>(workers: &mut [Program], order: &Order) -> Result<Vec<T>> {
    let line = serde_json::to_string(order)?;
    workers.iter_mut().try_for_each(|worker| worker.tell(&line))?;
    workers.iter_mut().map(Program::answer).collect()
}

/// Obeys until the input ends.
pub(crate) fn serve(url: &str) -> Result<()> {
    let runtime = super::runtime()?;
    let cache = Arc::new(Grown::over_redis(&runtime, url, "growth", Compression::Usual));
    for line in io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Order::Read { keys, milliseconds } => {
                say(&read(&runtime, &cache, keys, Duration::from_millis(milliseconds)))?;
            }
            Order::Rush { key, callers } => {
                let rush = rush(&runtime, &cache, &key, callers);
                say(&Rushed { loads: rush.loads, milliseconds: rush.handover.as_secs_f64() * 1e3 })?;
            }
        }
    }
    Ok(())
}

/// The hits a second within `span`. By time, so that no process is ready before the others.
fn read(runtime: &Runtime, cache: &Arc<Grown>, keys: u64, span: Duration) -> f64 {
    let watch = Stopwatch::start();
    let tasks = (0..TASKS).map(|task| {
        let reads = Reads { cache: cache.clone(), keys, tasks: TASKS };
        // No two processes read in the same order.
        let first = (std::process::id() as usize) << 32 | task;
        runtime.spawn(async move {
            let mut hits = 0;
            for number in (first..).step_by(TASKS) {
                if watch.elapsed() >= span {
                    break;
                }
                hits += usize::from(reads.step(number).await);
            }
            hits
        })
    });
    let ended = runtime.block_on(join_all(tasks.collect::<Vec<_>>()));
    let hits: usize = ended.into_iter().map(|hits| hits.expect("no task panics")).sum();
    hits as f64 / watch.elapsed().as_secs_f64()
}

fn say(answer: &impl Serialize) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(answer)?)?;
    Ok(out.flush()?)
}

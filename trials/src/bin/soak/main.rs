//! Mixed load in several processes over one Redis, for as long as one likes: nothing may grow, nobody may see an
//! error.
//!
//! The last line of the output says what was counted.

mod clients;
mod fire;
mod flat;
mod laps;
mod sample;
mod tags;
mod trouble;

use std::{process::ExitCode, time::Duration};

use clap::Parser;
use forebay_rig::Redis;
use forebay_trials::{
    crew::{self, Worker},
    moment::Moment,
    order::Setup,
};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::{clients::Counts, sample::Sample};

const PROCESSES: usize = 3;

/// From here on there is time for Redis to fail as well.
const LONG: Duration = Duration::from_secs(300);

#[derive(Debug, Parser)]
struct Arguments {
    /// For how long.
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
}

/// What all parts of a soak share.
struct Soak {
    workers: Vec<Worker>,
    redis: Redis,
    counts: Counts,
    until: Moment,
    /// Held by who needs Redis to answer, or not to.
    calm: Mutex<()>,
}

impl Soak {
    async fn start(length: Duration, folder: &TempDir) -> Self {
        let redis = Redis::start();
        let setup = Setup {
            redis: redis.url(),
            // A machine that is busy with something else may keep Redis from answering for longer than usual.
            budget_ms: Some(1_000),
            fresh_ms: Some(3_000),
            stale_ms: 5_000,
            local_ms: Some(1_000),
            database: Some(folder.path().join("rows")),
            ..Setup::default()
        };
        let workers = crew::start(PROCESSES, &setup).await;
        let until = Moment::now().after(length);
        Self { workers, redis, counts: Counts::default(), until, calm: Mutex::default() }
    }

    fn is_over(&self) -> bool {
        Moment::now() >= self.until
    }

    /// Waits until every process uses Redis and hears the others.
    async fn is_well(&self) {
        for worker in &self.workers {
            worker.is_well().await;
        }
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let length = Duration::from_secs_f64(Arguments::parse().minutes * 60.0);
    let folder = TempDir::new().expect("a folder can be created");
    let soak = Soak::start(length, &folder).await;

    let (samples, (), mut wrong, disorder) = tokio::join!(
        sample::take(&soak, length),
        clients::play(&soak),
        trouble::make(&soak, length >= LONG),
        laps::play(&soak),
    );

    wrong.extend(disorder);
    wrong.extend(laps::left(&soak).await);
    if length >= LONG {
        wrong.extend(fire::play(length).await);
        wrong.extend(tags::play().await);
    }
    wrong.extend(flat::growth(&samples));
    wrong.extend(soak.counts.errors());
    wrong.extend(soak.redis.keys_without_expiry().into_iter().map(|key| format!("{key} has no expiry")));
    for what in &wrong {
        println!("wrong: {what}");
    }
    println!("{}", verdict(&soak, &samples, length, wrong.is_empty()));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn verdict(soak: &Soak, samples: &[Sample], length: Duration, flat: bool) -> String {
    let verdict = if flat { "ok" } else { "FAILED" };
    let figures = flat::figures(samples);
    format!("soak {verdict}: {} s, {PROCESSES} processes, {}; {figures}", length.as_secs(), soak.counts)
}

async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

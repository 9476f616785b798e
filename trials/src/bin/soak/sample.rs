//! What the processes use at one time, as the operating system, their runtimes and Redis say.

use std::{fs, time::Duration};

use forebay_trials::crew::Worker;

use crate::{Soak, pause};

/// Samples of a whole soak.
const SAMPLES: u32 = 60;

/// What all processes use together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Resident memory in KiB.
    pub(crate) memory: u64,
    /// Open files and sockets.
    pub(crate) files: u64,
    /// Tasks of the runtimes.
    pub(crate) tasks: u64,
    /// Connections as Redis counts them.
    pub(crate) connections: u64,
}

/// Samples until the soak is over.
pub(crate) async fn take(soak: &Soak, length: Duration) -> Vec<Sample> {
    let mut samples = Vec::new();
    while !soak.is_over() {
        pause(length / SAMPLES).await;
        let _calm = soak.calm.lock().await;
        let mut sample = Sample::default();
        for worker in &soak.workers {
            soak.counts.loads(worker).await;
            sample.memory += worker.memory();
            sample.files += files(worker);
            sample.tasks += worker.report().await.tasks as u64;
        }
        // One of the connections is that of the question.
        sample.connections = soak.redis.call(&["CLIENT", "LIST"]).trim().lines().count() as u64 - 1;
        println!("{sample:?}");
        samples.push(sample);
    }
    samples
}

fn files(worker: &Worker) -> u64 {
    let files = fs::read_dir(format!("/proc/{}/fd", worker.pid())).expect("the worker lives").count();
    files as u64
}

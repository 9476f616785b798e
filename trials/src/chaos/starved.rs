//! Takes note of when the machine let threads wait that could have run: lateness then says nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::history::Span;
use crate::moment::Moment;

const STEP: Duration = Duration::from_millis(5);

/// A thread that has waited for so long had no fair share of the machine.
const STARVED: Duration = Duration::from_millis(40);

/// One for each core of a small machine.
const THREADS: usize = 2;

/// Threads that do nothing but look whether they come to it.
#[derive(Debug)]
pub(super) struct Meter {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Span>>>,
}

impl Meter {
    pub(super) fn start() -> Self {
        let over = Arc::<AtomicBool>::default();
        let watch = |_| {
            let over = over.clone();
            thread::spawn(move || watch(&over))
        };
        Self { threads: (0..THREADS).map(watch).collect(), over }
    }

    /// When some thread had to wait.
    pub(super) fn stop(self) -> Vec<Span> {
        self.over.store(true, SeqCst);
        let spans = self.threads.into_iter().map(|thread| thread.join().expect("a watching thread ends"));
        spans.flatten().collect()
    }
}

fn watch(over: &AtomicBool) -> Vec<Span> {
    let mut spans = Vec::new();
    while !over.load(SeqCst) {
        let began = Moment::now();
        thread::sleep(STEP);
        let ended = Moment::now();
        if ended.since(began) > STEP + STARVED {
            spans.push(Span { began, ended });
        }
    }
    spans
}

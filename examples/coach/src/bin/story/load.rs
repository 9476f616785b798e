//! Questions as people ask them: few of them often, and at a pace that does not wait for the answers.

use std::{collections::BTreeSet, iter, time::Duration};

use anyhow::Result;
use futures::future::try_join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

const RUNNERS: usize = 100;

const QUESTIONS: [&str; 10] = [
    "How fast should my long run be?",
    "How far should I run this week?",
    "When do I rest?",
    "What do I eat before a race?",
    "How do I warm up?",
    "Is my stride too long?",
    "How many hills are enough?",
    "How do I run in the heat?",
    "What are intervals good for?",
    "How soon after a cold may I run?",
];

/// How many questions of how many runners there are.
pub(crate) const KINDS: usize = RUNNERS * QUESTIONS.len();

#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) questions: u32,
    pub(crate) per_second: u32,
}

/// One question of one runner.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) runner: String,
    pub(crate) question: &'static str,
}

/// What came of one question.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) took: Duration,
    pub(crate) source: String,
    pub(crate) answer: String,
}

#[derive(Deserialize)]
struct Answer {
    answer: String,
    source: String,
}

impl Asked {
    /// The one at a rank: the popular ones are of many runners.
    pub(crate) fn at(rank: usize) -> Self {
        let kind = rank * 37 % KINDS;
        Self { runner: format!("runner-{}", 1 + kind % RUNNERS), question: QUESTIONS[kind / RUNNERS] }
    }

    pub(crate) async fn ask(&self, client: &Client, base: &str, since: Instant) -> Result<Told> {
        let call = client.post(format!("{base}/ask")).header("x-api-key", "demo-partner");
        let call = call.header("x-user", &self.runner).json(&json!({ "question": self.question }));
        let Answer { answer, source } = call.send().await?.error_for_status()?.json().await?;
        Ok(Told { took: since.elapsed(), source, answer })
    }
}

impl Load {
    /// The same ranks each time, by a zipf distribution with exponent 1.
    fn ranks(self) -> impl Iterator<Item = usize> {
        let mut sums = Vec::with_capacity(KINDS);
        let mut sum = 0.0;
        for rank in 0..KINDS {
            sum += 1.0 / (rank as f64 + 1.0);
            sums.push(sum);
        }
        let mut dice = StdRng::seed_from_u64(42);
        iter::repeat_with(move || {
            let thrown = dice.random::<f64>() * sum;
            sums.partition_point(|sum| *sum < thrown).min(KINDS - 1)
        })
        .take(self.questions as usize)
    }

    /// Each of them once.
    pub(crate) fn different(self) -> BTreeSet<usize> {
        self.ranks().collect()
    }

    /// Asks all of them, of each instance in turn.
    pub(crate) async fn run(self, client: &Client, bases: &[String]) -> Result<Vec<Told>> {
        let (start, pace) = (now(), Duration::from_secs(1) / self.per_second.max(1));
        let asks = self.ranks().zip(bases.iter().cycle()).zip(0_u32..).map(|((rank, base), n)| {
            let (client, base, due) = (client.clone(), base.clone(), start + pace * n);
            tokio::spawn(async move {
                sleep_until(due).await;
                // Not from when it was due: a timer may be late by more than a hit takes.
                Asked::at(rank).ask(&client, &base, now()).await
            })
        });
        try_join_all(asks).await?.into_iter().collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "latencies are measured by the machine's clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

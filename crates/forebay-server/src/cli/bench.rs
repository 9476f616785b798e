//! `forebay bench`: what a server does about a stampede.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use clap::{Args, Subcommand};
use forebay::Token;
use serde::Serialize;
use tokio::{sync::Barrier, task::JoinSet, time::timeout};

use super::{
    Failure, Verdict,
    client::Reach,
    latencies::Latencies,
    leases::{Granted, Leased, Target},
    origin::Origin,
    output::{Output, Paint, Report},
    serve::raise_file_limit,
    stopwatch::now,
    words::{count, printable, span},
};
use crate::api::answer::millis;

/// Where the ids of measurements are.
const SPACE: &str = "bench:stampede";

/// How long a caller goes on, beyond a few times what a load takes: an answer that is late is a figure, and no failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest that every space lets its callers wait, if it says nothing else.
const MOST_WAIT: Duration = Duration::from_secs(30);

/// Measures a server that runs
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    Stampede(Stampede),
}

/// Has many callers ask for one missing id at once, through a server and without one
///
/// Each caller asks the server for the id, or the lease to load it, and loads it if it gets that. Beside that, each of as
/// many callers loads it by itself. The origin is in this process: it takes its time, and counts. Exit code 1 if it was
/// loaded more than once through the server, or somebody got no answer.
#[derive(Debug, Args)]
pub(super) struct Stampede {
    /// How many ask
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    callers: u64,

    /// How long a load takes
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=20_000))]
    load_ms: u64,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

/// The same stampede, twice.
#[derive(Debug, Serialize)]
struct Compared {
    callers: u64,
    load_ms: u64,
    without: Column,
    with: Column,
}

#[derive(Debug, Serialize)]
struct Column {
    loads: u64,
    /// Callers that were served by somebody else's load.
    waited: u64,
    failed: u64,
    /// Why the first of those that failed did.
    failure: Option<String>,
    p50_ms: f64,
    p99_ms: f64,
}

/// What became of one caller.
#[derive(Debug)]
enum Outcome {
    Loaded,
    Waited,
    Failed(String),
}

impl Verb {
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        let Self::Stampede(stampede) = self;
        raise_file_limit();
        let runtime = tokio::runtime::Runtime::new();
        runtime
            .map_err(|error| Failure::Undone(format!("cannot start threads: {error}")))?
            .block_on(stampede.run())
    }
}

impl Stampede {
    async fn run(self) -> Result<Verdict, Failure> {
        let client = self.reach.client()?;
        let id = Token::random().to_string();
        // Whatever is wrong with the server is wrong for all of them.
        probe(Target { client: &client, space: SPACE, id: &format!("{id}-first") }).await?;
        let load = Duration::from_millis(self.load_ms);
        let through = move |origin: Origin| {
            let (client, id) = (client.clone(), id.clone());
            async move { through(Target { client: &client, space: SPACE, id: &id }, &origin).await }
        };
        let with = stampede(self.callers, Origin::new(load), through).await;
        let alone = |origin: Origin| async move {
            origin.load("alone").await;
            Outcome::Loaded
        };
        let without = stampede(self.callers, Origin::new(load), alone).await;
        let compared = Compared { callers: self.callers, load_ms: self.load_ms, without, with };
        self.output.tell(&compared)?;
        Ok(if compared.with.loads == 1 && compared.with.failed == 0 {
            Verdict::Well
        } else {
            Verdict::Unwell
        })
    }
}

/// Asks for what nobody else does, and leaves nothing behind.
async fn probe(target: Target<'_>) -> Result<(), Failure> {
    if let Leased::Granted(lease) = target.take(0).await? {
        // It ends by itself if that fails.
        target.give_back(&lease).await.ok();
    }
    Ok(())
}

/// Has `callers` do `call` at once.
async fn stampede<C, F>(callers: u64, origin: Origin, call: C) -> Column
where
    C: Fn(Origin) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send,
{
    let gate = Arc::new(Barrier::new(usize::try_from(callers).unwrap_or(usize::MAX)));
    // All of them want it from the same moment on: whoever comes to run late has waited meanwhile.
    let opened = Arc::new(OnceLock::new());
    let mut crowd = JoinSet::new();
    for _ in 0..callers {
        let (gate, opened, origin, call) = (gate.clone(), opened.clone(), origin.clone(), call.clone());
        crowd.spawn(async move {
            gate.wait().await;
            let began = *opened.get_or_init(now);
            let outcome = call(origin).await;
            (outcome, began.elapsed())
        });
    }
    let mut column = Column { loads: 0, waited: 0, failed: 0, failure: None, p50_ms: 0.0, p99_ms: 0.0 };
    let mut times = Latencies::new();
    while let Some(done) = crowd.join_next().await {
        let (outcome, took) =
            done.unwrap_or_else(|error| (Outcome::Failed(error.to_string()), Duration::ZERO));
        column.note(outcome);
        times.record(took);
    }
    column.loads = origin.calls();
    [column.p50_ms, column.p99_ms] =
        [50.0, 99.0].map(|percent| times.percentile(percent).as_secs_f64() * 1e3);
    column
}

/// Does what any client does, for as long as its patience lasts.
async fn through(target: Target<'_>, origin: &Origin) -> Outcome {
    let patience = patience(origin);
    let late = |_| Outcome::Failed(format!("it was not served within {}", span(patience)));
    timeout(patience, served(target, origin)).await.unwrap_or_else(late)
}

fn patience(origin: &Origin) -> Duration {
    origin.takes() * 4 + PATIENCE
}

/// Asks, waits, asks again, and loads if that is left to it.
async fn served(target: Target<'_>, origin: &Origin) -> Outcome {
    let wait = (origin.takes() * 4 + Duration::from_secs(5)).min(MOST_WAIT);
    loop {
        return match target.take_within(patience(origin), millis(wait)).await {
            Ok(Leased::Value { .. } | Leased::Absent) => Outcome::Waited,
            Ok(Leased::Granted(lease)) => load(target, &lease, origin).await,
            Ok(Leased::Busy) => continue,
            Ok(Leased::Failed) => Outcome::Failed("a load of it has failed".to_owned()),
            Err(undone) => Outcome::Failed(Failure::from(undone).to_string()),
        };
    }
}

async fn load(target: Target<'_>, lease: &Granted, origin: &Origin) -> Outcome {
    let value = tokio::select! {
        value = origin.load(target.id) => value,
        lost = target.hold(lease) => return Outcome::Failed(lost.to_string()),
    };
    // It is still there when the last one asks, who may have come to run late.
    let life = patience(origin) * 2;
    match target.fill(lease, value, Some(millis(life))).await {
        Ok(()) => Outcome::Loaded,
        Err(undone) => Outcome::Failed(Failure::from(undone).to_string()),
    }
}

impl Column {
    fn note(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Loaded => {}
            Outcome::Waited => self.waited += 1,
            Outcome::Failed(why) => {
                self.failed += 1;
                self.failure.get_or_insert(why);
            }
        }
    }
}

impl Report for Compared {
    fn text(&self, paint: Paint) -> String {
        let row = |name: &str, of: &dyn Fn(&Column) -> String| {
            let [without, with] = [&self.without, &self.with].map(of);
            format!("{name:<20}{without:>18}{with:>18}\n")
        };
        let time = |ms: f64| span(Duration::from_secs_f64(ms / 1e3));
        let (callers, load) = (count(self.callers), time(self.load_ms as f64));
        let mut text = format!("{callers} callers ask for one missing id at once; a load takes {load}.\n\n");
        text += &(paint.bold(&format!("{:<20}{:>18}{:>18}", "", "without Forebay", "with Forebay")) + "\n");
        text += &row("loads", &|column| count(column.loads));
        text += &row("waited for another", &|column| count(column.waited));
        text += &row("failed", &|column| count(column.failed));
        text += &row("p50", &|column| time(column.p50_ms));
        text += &row("p99", &|column| time(column.p99_ms));
        if let Some(failure) = &self.with.failure {
            text += &format!("\n{}\n", paint.bad(&format!("The first that failed: {}", printable(failure))));
        }
        text
    }
}

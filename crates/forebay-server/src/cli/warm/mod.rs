//! `forebay warm`: values that are loaded before anybody asks for them.

mod done;
mod outcome;
mod progress;
mod source;

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use tokio::{
    sync::Mutex,
    task::{JoinError, JoinSet},
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use self::{
    done::Done,
    outcome::{Outcome, Warmed},
    progress::Progress,
    source::Source,
};
use super::{
    Failure, Verdict,
    client::{Client, Reach},
    ids::Ids,
    leases::{Granted, Leased, Target, Undone},
    output::Output,
    signals::Signals,
};
use crate::api::answer::millis;

/// Has the values of many ids loaded before anybody asks for them
///
/// For each id it takes the lease from the server, fetches the value from the origin and fills it in. What is fresh is
/// passed over, and so is what somebody else loads. Ctrl-C lets what runs end, a second one does not; with --resume the
/// next run goes on there.
/// Exit code 1 if an id could not be loaded, or it was interrupted. A server that would refuse every id, as for a wrong token,
/// is asked no more.
#[derive(Debug, Args)]
pub(super) struct Warm {
    /// The space
    space: String,

    /// Where the origin has a value, with `{id}` in the place of the id
    #[arg(long, value_name = "URL", value_parser = source::template)]
    origin: String,

    /// A file with an id on each line; `-` is the standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    ids: PathBuf,

    /// How many ids at most are begun in a second
    #[arg(long, default_value_t = 100.0, value_parser = rate)]
    rate: f64,

    /// How many are under way at a time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    concurrency: u16,

    /// How long the values are fresh, such as 1h [default: as long as the space says]
    #[arg(long, value_name = "TIME", value_parser = crate::config::period)]
    ttl: Option<Duration>,

    /// Remembers where the origin says 404 or 410 that there is nothing, which is a failure otherwise
    #[arg(long)]
    absent: bool,

    /// A file that is told of each id that is done, and whose ids are not done again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

/// What every id needs.
#[derive(Debug)]
struct Job {
    client: Client,
    space: String,
    source: Source,
    ttl_ms: Option<u64>,
    absent: bool,
    pace: Mutex<Interval>,
    /// From then on nothing is begun.
    interrupted: CancellationToken,
}

/// What is under way, and what became of the rest.
#[derive(Debug)]
struct Run {
    job: Arc<Job>,
    /// Ids, each with what became of it if it had its turn.
    running: JoinSet<(String, Option<Outcome>)>,
    done: Done,
    warmed: Warmed,
    progress: Progress,
}

impl Warm {
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        let runtime = tokio::runtime::Runtime::new();
        let runtime = runtime.map_err(|error| Failure::Undone(format!("cannot start threads: {error}")))?;
        let output = self.output;
        let warmed = runtime.block_on(self.warm());
        // Whoever reads the standard input may do so for ever.
        runtime.shutdown_background();
        let warmed = warmed?;
        output.tell(&warmed)?;
        Ok(if warmed.is_complete() { Verdict::Well } else { Verdict::Unwell })
    }

    async fn warm(self) -> Result<Warmed, Failure> {
        let cannot_hear = |error| Failure::Undone(format!("cannot hear signals: {error}"));
        let mut signals = Signals::new().map_err(cannot_hear)?;
        let (done, mut ids) = (Done::open(self.resume.as_deref(), &self.space)?, Ids::open(&self.ids)?);
        let progress = Progress::new(ids.count());
        let (warmed, concurrency) = (Warmed::new(&self.space), usize::from(self.concurrency));
        let job = Arc::new(self.into_job()?);
        let mut run = Run { job, running: JoinSet::new(), done, warmed, progress };
        let mut more = true;
        while more || !run.running.is_empty() {
            tokio::select! {
                id = ids.next(), if more && run.running.len() < concurrency => match id? {
                    None => more = false,
                    Some(id) => run.begin(id),
                },
                Some(ended) = run.running.join_next() => if let Err(failure) = run.note(ended) {
                    run.progress.end();
                    return Err(failure);
                },
                _ = signals.end() => {
                    if run.warmed.interrupted {
                        break;
                    }
                    more = false;
                    run.interrupt();
                }
            }
        }
        run.progress.end();
        Ok(run.warmed)
    }

    fn into_job(self) -> Result<Job, Failure> {
        let mut pace = interval(Duration::from_secs_f64(1.0 / self.rate));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Job {
            client: self.reach.client()?,
            space: self.space,
            source: Source::new(self.origin)?,
            ttl_ms: self.ttl.map(millis),
            absent: self.absent,
            pace: Mutex::new(pace),
            interrupted: CancellationToken::new(),
        })
    }
}

impl Run {
    /// Begins one, unless it was done before.
    fn begin(&mut self, id: String) {
        if self.done.has(&id) {
            return self.warmed.pass_over(&mut self.progress);
        }
        let job = self.job.clone();
        self.running.spawn(async move {
            let outcome = job.in_turn(&id).await;
            (id, outcome)
        });
    }

    fn note(&mut self, ended: Result<(String, Option<Outcome>), JoinError>) -> Result<(), Failure> {
        let (id, outcome) = ended.map_err(|error| Failure::Undone(error.to_string()))?;
        let outcome = match outcome {
            None => return Ok(()),
            Some(Outcome::Hopeless(failure)) => return Err(failure),
            Some(outcome) => outcome,
        };
        if outcome.is_done() {
            self.done.note(&id)?;
        }
        self.warmed.note(id, outcome, &mut self.progress);
        Ok(())
    }

    fn interrupt(&mut self) {
        self.warmed.interrupted = true;
        self.job.interrupted.cancel();
        self.progress.remark("what runs is let end; a second time does not wait for that");
    }
}

impl Job {
    /// Warms one as soon as it is its turn, unless all is interrupted before.
    async fn in_turn(&self, id: &str) -> Option<Outcome> {
        let turn = async { self.pace.lock().await.tick().await };
        self.interrupted.run_until_cancelled(turn).await?;
        Some(self.warm(id).await)
    }

    async fn warm(&self, id: &str) -> Outcome {
        let target = Target { client: &self.client, space: &self.space, id };
        match target.take(0).await {
            Ok(Leased::Value { lease: None } | Leased::Absent) => Outcome::Fresh,
            Ok(Leased::Value { lease: Some(lease) } | Leased::Granted(lease)) => {
                let loaded = self.load(target, &lease).await;
                if let Outcome::Failed(_) | Outcome::Hopeless(_) = loaded {
                    // It ends by itself if that fails, too.
                    target.give_back(&lease).await.ok();
                }
                loaded
            }
            Ok(Leased::Busy) => Outcome::Elsewhere,
            Ok(Leased::Failed) => Outcome::Failed("a load of it failed a moment ago".to_owned()),
            Err(undone) => undone.into(),
        }
    }

    async fn load(&self, target: Target<'_>, lease: &Granted) -> Outcome {
        let fetched = tokio::select! {
            fetched = self.source.fetch(target.id) => fetched,
            lost = target.hold(lease) => return Outcome::Failed(lost.to_string()),
        };
        let stored = match fetched {
            Ok(Some(found)) => target.fill(lease, found, self.ttl_ms).await.map(|()| Outcome::Loaded),
            Ok(None) if self.absent => {
                target.fill_absence(lease, self.ttl_ms).await.map(|()| Outcome::Absent)
            }
            Ok(None) => {
                return Outcome::Failed("the origin has none; with --absent that is remembered".to_owned());
            }
            Err(failure) => Err(Undone::Here(failure)),
        };
        stored.unwrap_or_else(Outcome::from)
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (0.01..=100_000.0).contains(&rate) => Ok(rate),
        _ => Err("give a number from 0.01 to 100000".to_owned()),
    }
}

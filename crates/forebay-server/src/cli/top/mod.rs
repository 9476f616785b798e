//! `forebay top`: what a server does, live.

mod figures;
mod samples;
mod terminal;
mod view;

use std::time::Duration;

use clap::Args;
use reqwest::Method;
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use self::{figures::Figures, samples::Samples, terminal::Screen};
use super::{
    Failure, Verdict,
    client::{Client, Reach},
    output::{Output, Paint, go_on, json, print},
    signals::Signals,
    stopwatch::now,
    wait_for,
};

/// How often the server is asked.
const EVERY: Duration = Duration::from_secs(1);

/// Shows what a server does, live: hits, loads, times, refusals, Redis, the bus and locks
///
/// It reads `/metrics` once a second, for which the token needs the scope `read`. `q` and Ctrl-C end it. With --json it
/// prints a document a second, with --once one second alone; while the server does not answer, the document has `trouble`
/// alone.
#[derive(Debug, Args)]
pub(super) struct Top {
    /// Looks for one second, prints what was seen, and ends
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    output: Output,
}

impl Top {
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        wait_for(self.watch())?;
        Ok(Verdict::Well)
    }

    async fn watch(&self) -> Result<(), Failure> {
        let client = self.reach.client()?;
        let cannot_hear = |error| Failure::Undone(format!("cannot hear signals: {error}"));
        let mut signals = Signals::new().map_err(cannot_hear)?;
        // Before the terminal is taken over: that nobody answers is to be read.
        let first = read(&client).await?;
        let shown: Shown = match (self.once, self.output.json) {
            (_, true) => Shown::Lines,
            (true, false) => Shown::Text,
            (false, false) => Shown::Screen(Box::new(Screen::open()?)),
        };
        tokio::select! {
            ended = self.follow(&client, first, shown) => ended,
            _ = signals.end() => Ok(()),
        }
    }

    async fn follow(&self, client: &Client, first: Samples, mut shown: Shown) -> Result<(), Failure> {
        let (mut before, mut at) = (first, Instant::from_std(now()));
        let mut next = at + EVERY;
        loop {
            if shown.until(next).await? {
                return Ok(());
            }
            let read = read(client).await;
            let moment = Instant::from_std(now());
            next = moment + EVERY;
            match read {
                Ok(seen) => {
                    shown.show(client, &Figures::between(&before, &seen, moment.duration_since(at)))?;
                    (before, at) = (seen, moment);
                }
                Err(failure) if self.once => return Err(failure),
                // It may come back: until then it is said, on the screen over what was seen last.
                Err(failure) => shown.lose(&failure)?,
            }
            if self.once {
                return Ok(());
            }
        }
    }
}

/// A second without figures.
#[derive(Debug, Serialize)]
struct Lost {
    trouble: String,
}

/// Where it is shown.
enum Shown {
    /// A document a second.
    Lines,
    /// Once, as text.
    Text,
    Screen(Box<Screen>),
}

impl Shown {
    /// Waits; answers whether whoever looks has seen enough.
    async fn until(&mut self, next: Instant) -> Result<bool, Failure> {
        match self {
            Self::Screen(screen) => screen.until(next).await,
            Self::Lines | Self::Text => {
                sleep_until(next).await;
                Ok(false)
            }
        }
    }

    fn show(&mut self, client: &Client, figures: &Figures) -> Result<(), Failure> {
        match self {
            Self::Lines => go_on(&(json(figures) + "\n")),
            Self::Text => print(&view::text(client.place(), figures, Paint::for_stdout())),
            Self::Screen(screen) => screen.show(client.place(), figures),
        }
    }

    fn lose(&mut self, failure: &Failure) -> Result<(), Failure> {
        match self {
            Self::Screen(screen) => screen.lose(failure),
            Self::Lines | Self::Text => go_on(&(json(&Lost { trouble: failure.to_string() }) + "\n")),
        }
    }
}

async fn read(client: &Client) -> Result<Samples, Failure> {
    let response = client.send(client.request(Method::GET, &["metrics"])?).await?;
    Ok(Samples::read(&client.text(response).await?))
}

//! Several processes over stores that fail in every way known, for as long as one likes, and whether the cache kept its
//! promises.

mod peers;

use std::{fs, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use forebay_trials::{
    chaos::{
        self, Ground, Players, Verdict,
        fault::Site,
        report::{Run, report},
    },
    order::Subject,
};

/// Tries what a cache promises while everything goes wrong.
#[derive(Debug, Parser)]
struct Arguments {
    /// For how long, on each topology.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Plays the operations and faults of an earlier run again; the timing is another one.
    #[arg(long)]
    seed: Option<u64>,
    /// On which servers.
    #[arg(long, value_enum, default_value_t = Topology::All)]
    topology: Topology,
    /// Whose cache; of others than Forebay, on one server.
    #[arg(long, value_enum, default_value_t = Whose::Forebay)]
    subject: Whose,
    /// Writes what was seen into this file, as Markdown.
    #[arg(long)]
    report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// Forebay's.
    Forebay,
    /// What is often written by hand.
    Naive,
    /// Rust's moka before Redis.
    Moka,
    /// Python's cashews.
    Cashews,
    /// Node's bentocache.
    Bentocache,
    /// Rust's hitbox.
    Hitbox,
    /// One after the other.
    All,
}

impl Whose {
    fn subjects(self) -> &'static [Subject] {
        match self {
            Self::Forebay => &[Subject::Forebay],
            Self::Naive => &[Subject::Naive],
            Self::Moka => &[Subject::Moka],
            Self::Cashews => &[Subject::Cashews],
            Self::Bentocache => &[Subject::Bentocache],
            Self::Hitbox => &[Subject::Hitbox],
            Self::All => &[
                Subject::Forebay,
                Subject::Naive,
                Subject::Moka,
                Subject::Cashews,
                Subject::Bentocache,
                Subject::Hitbox,
            ],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Topology {
    /// One server.
    One,
    /// Three primaries with a replica each.
    Cluster,
    /// A primary with two replicas, and three sentinels.
    Sentinel,
    /// One after the other.
    All,
}

impl Topology {
    fn sites(self) -> &'static [Site] {
        match self {
            Self::One => &[Site::One],
            Self::Cluster => &[Site::Cluster],
            Self::Sentinel => &[Site::Sentinels],
            Self::All => &[Site::One, Site::Cluster, Site::Sentinels],
        }
    }
}

impl Arguments {
    fn length(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }
}

#[tokio::main(worker_threads = 4)]
async fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(rand::random);
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for &subject in arguments.subject.subjects() {
        let players = match peers::players(subject) {
            Ok(players) => players,
            Err(why) => {
                missing.push(format!("{subject:?} is missing: {why:#}"));
                continue;
            }
        };
        for &site in arguments
            .topology
            .sites()
            .iter()
            .filter(|site| subject == Subject::Forebay || **site == Site::One)
        {
            runs.push(plays(&players, site, seed, arguments.length()).await);
        }
    }
    missing.iter().for_each(|why| println!("{why}"));
    ensure!(!runs.is_empty(), "nothing was played: others than Forebay know one server only, --topology one");
    let told = report(&runs);
    if arguments.subject == Whose::All {
        println!("{told}");
    }
    if let Some(file) = &arguments.report {
        fs::write(file, told).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    // Where others are beside it, it is Forebay's promises that count.
    let counts = |run: &&Run| arguments.subject != Whose::All || run.subject == Subject::Forebay;
    let held = runs.iter().filter(counts).all(Run::held);
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays on one topology, and tells of it.
async fn plays(players: &Players, site: Site, seed: u64, length: Duration) -> Run {
    let subject = players.subject;
    println!("chaos: {subject:?} on {site:?}, --seed {seed}");
    let ground = tokio::task::spawn_blocking(move || Ground::start(site)).await.expect("the servers start");
    let history = chaos::play(ground, players.clone(), length, seed).await;
    let verdict = Verdict::of(&history);
    println!("{}", history.table(&verdict));
    for fault in history.missing(site) {
        println!("{} did not happen", fault.facts().name);
    }
    let run = Run { subject, site, seed, length, history, verdict };
    let (word, count) = (if run.held() { "ok" } else { "FAILED" }, run.verdict.violations.len());
    let operations = run.history.steps.len();
    println!(
        "chaos {word}: {subject:?} on {site:?}, {operations} operations, {count} violations, --seed {seed}\n"
    );
    run
}

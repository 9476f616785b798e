//! Several processes over stores that fail in every way known, for as long as one likes, and whether the cache kept its
//! promises.

use std::{process::ExitCode, time::Duration};

use clap::{Parser, ValueEnum};
use forebay_trials::{
    chaos::{self, Ground, Verdict, fault::Site},
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
    /// Whose cache.
    #[arg(long, value_enum, default_value_t = Subject::Forebay)]
    subject: Subject,
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

#[tokio::main(worker_threads = 4)]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let sites = arguments.topology.sites();
    if arguments.subject != Subject::Forebay && sites != [Site::One] {
        eprintln!("error: {:?} knows one server only; use --topology one", arguments.subject);
        return ExitCode::from(2);
    }
    let seed = arguments.seed.unwrap_or_else(rand::random);
    let mut held = true;
    for site in sites {
        held &= plays(&arguments, *site, seed).await;
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether all promises held on one topology.
async fn plays(arguments: &Arguments, site: Site, seed: u64) -> bool {
    let length = Duration::from_secs_f64(arguments.minutes * 60.0);
    println!("chaos: {:?} on {site:?}, --seed {seed}", arguments.subject);
    let ground = tokio::task::spawn_blocking(move || Ground::start(site)).await.expect("the servers start");
    let history = chaos::play(ground, arguments.subject, length, seed).await;
    let (verdict, missing) = (Verdict::of(&history), history.missing(site));
    println!("{}", history.table(&verdict));
    for fault in &missing {
        println!("{} did not happen", fault.facts().name);
    }
    let held = verdict.violations.is_empty() && missing.is_empty();
    let (word, count) = (if held { "ok" } else { "FAILED" }, verdict.violations.len());
    println!(
        "chaos {word}: {site:?}, {} operations, {count} violations, --seed {seed}\n",
        history.steps.len()
    );
    held
}

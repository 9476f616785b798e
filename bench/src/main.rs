//! Measures Forebay beside what its users would pick instead, and writes `RESULTS.md`.
//!
//! | to add | do |
//! |---|---|
//! | a row | a file in `rows/`, and its line in `rows::ALL` |
//! | a curve | a file in `growth/`, and its line in `growth::ALL` |
//! | a peer | a crate in `peers/` with one exact version, which implements traits of `contest` |
//! | a peer in another language | a script in `peers/` with exact versions, and its `Source` in `programs/source.rs` |
//! | a cache over Redis in Python or Node | a module in `adapters/` beside the driver of the language, and its `Source` |
//!
//! What a row measures is a trait in `contest`; `ours` is Forebay as a contestant; `drive` is what caches
//! over Redis are told to do, here or in programs of their own, which `programs` starts; `weigh` is the program
//! whose allocator counts; `tally` is what becomes of the figures. A row says beside its figures why Forebay may be
//! behind in it.

mod caches;
mod chapter;
mod cores;
mod growth;
mod plots;
mod rows;
mod steps;
mod stopwatch;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Error, Result, ensure};
use clap::{Parser, builder::PossibleValuesParser};
use serde::Serialize;
use tally::{
    attempt::attempt,
    behind::Behind,
    machine::Machine,
    progress::Progress,
    report::Report,
    results::{self, Chapters},
    table::Table,
};

use crate::{chapter::Chapter, growth::Extent, rows::Effort};

/// Measures Forebay beside what its users would pick instead.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Args {
    /// How often each contestant is measured at most: a table that takes too long has fewer rounds.
    #[arg(long, default_value_t = rows::ROUNDS, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Measures one row, and leaves RESULTS.md alone.
    #[arg(long, value_parser = PossibleValuesParser::new(rows::ALL.map(|row| row.name)))]
    only: Option<String>,

    /// Measures only how costs grow, and leaves the rows in RESULTS.md alone.
    #[arg(long, conflicts_with = "only")]
    growth: bool,

    /// Measures little, to see that everything runs, and leaves RESULTS.md alone.
    #[arg(long)]
    quick: bool,

    /// Writes the figures as JSON to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Obeys orders as one of several processes over this Redis.
    #[arg(long, hide = true, value_name = "URL")]
    worker: Option<String>,
}

/// What a run has measured.
#[derive(Debug, Default, Serialize)]
struct Measured {
    #[serde(flatten)]
    report: Option<Report>,
    growth: Option<Chapter>,
    /// What it failed to measure, and why.
    missing: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(url) = &args.worker {
        return growth::serve(url);
    }
    let mut measured = Measured::default();
    let mut progress = Progress::of(&args.parts());
    if !args.growth {
        measured.rows(&args, &mut progress)?;
        measured.write(&args)?;
    }
    if args.only.is_none() {
        measured.growth(&args, &mut progress)?;
        measured.write(&args)?;
    }
    measured.judge(&args)
}

impl Args {
    /// Whether it is measured well enough for RESULTS.md.
    fn is_whole(&self) -> bool {
        self.only.is_none() && !self.quick
    }

    fn rows(&self) -> impl Iterator<Item = &'static rows::Row> {
        let is_chosen =
            |row: &&rows::Row| !self.growth && self.only.as_deref().is_none_or(|only| only == row.name);
        rows::ALL.iter().filter(is_chosen)
    }

    /// What all parts take with as many rounds as by default.
    fn parts(&self) -> Vec<Duration> {
        let curves = growth::ALL.iter().filter(|_| self.only.is_none()).map(|growth| growth.seconds);
        self.rows().map(|row| row.seconds).chain(curves).map(Duration::from_secs).collect()
    }
}

impl Measured {
    fn rows(&mut self, args: &Args, progress: &mut Progress) -> Result<()> {
        let effort = if args.quick { Effort::quick() } else { Effort::full(args.rounds) };
        let mut report = Report::new(Machine::look()?, effort.rounds.most);
        println!("{report}");
        for row in args.rows() {
            progress.begin(row.name, Duration::from_secs(row.seconds));
            match attempt(|| (row.run)(&effort)) {
                Ok(tables) => println!("{}", report.add(tables)),
                Err(error) => self.miss(row.name, &error),
            }
            self.report = Some(report.clone());
            self.write_json(args)?;
        }
        Ok(())
    }

    fn growth(&mut self, args: &Args, progress: &mut Progress) -> Result<()> {
        let extent = if args.quick { Extent::quick() } else { Extent::full() };
        let mut chapter = Chapter::new(Machine::look()?);
        println!("{chapter}");
        for growth in &growth::ALL {
            progress.begin(&format!("growth, {}", growth.name), Duration::from_secs(growth.seconds));
            match attempt(|| (growth.run)(&extent)) {
                Ok(curve) => println!("{}", chapter.add(curve)),
                Err(error) => self.miss(growth.name, &error),
            }
        }
        self.growth = Some(chapter);
        Ok(())
    }

    fn miss(&mut self, name: &str, error: &Error) {
        eprintln!("not measured: {name}: {error:#}");
        self.missing.push(format!("{name} ({error:#})"));
    }

    /// Says where Forebay is behind. Where nobody has said why, a whole run fails, once everything is written.
    fn judge(&self, args: &Args) -> Result<()> {
        let behind = Behind(self.tables());
        if !args.growth {
            println!("{behind}");
        }
        let unexplained = if args.is_whole() { behind.unexplained() } else { Vec::new() };
        let missing = &self.missing;
        ensure!(missing.is_empty(), "missing: {}", missing.join("; "));
        ensure!(unexplained.is_empty(), "behind, and nobody says why: {}", unexplained.join("; "));
        Ok(())
    }

    fn tables(&self) -> &[Table] {
        self.report.as_ref().map_or(&[], Report::tables)
    }

    /// In place of what was there, where that may be replaced. Plots of less than a whole run lie apart.
    fn write(&self, args: &Args) -> Result<()> {
        self.write_json(args)?;
        let home = Path::new(env!("CARGO_MANIFEST_DIR"));
        let is_whole = args.is_whole() && self.missing.is_empty();
        let (report, growth) = (self.report.as_ref(), self.growth.as_ref());
        if is_whole {
            let chapters = Chapters {
                rows: report.map(ToString::to_string),
                growth: growth.map(ToString::to_string),
                behind: report.map(|report| Behind(report.tables()).to_string()),
            };
            results::renew(&home.join("RESULTS.md"), &chapters)?;
        }
        let plots = home.join(if is_whole { "plots" } else { "target/plots" });
        plots::write_curves(&plots, growth.map_or(&[], Chapter::curves))?;
        plots::write_overview(&plots, self.tables())
    }

    fn write_json(&self, args: &Args) -> Result<()> {
        let Some(file) = &args.json else { return Ok(()) };
        let json = serde_json::to_string_pretty(self)?;
        fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))
    }
}

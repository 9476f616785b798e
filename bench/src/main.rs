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
//! over Redis are told to do, here or in programs of their own; `weigh` is the program
//! whose allocator counts.

mod attempt;
mod caches;
mod chapter;
mod cores;
mod growth;
mod machine;
mod plots;
mod programs;
mod report;
mod results;
mod rounds;
mod rows;
mod spelled;
mod steps;
mod stopwatch;
mod table;
mod zipf;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Error, Result, ensure};
use clap::{Parser, builder::PossibleValuesParser};
use serde::Serialize;

use crate::{
    attempt::attempt, chapter::Chapter, growth::Extent, machine::Machine, report::Report, rows::Effort,
};

/// Measures Forebay beside what its users would pick instead.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Args {
    /// How often each contestant is measured.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
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
    if !args.growth {
        measured.rows(&args)?;
        measured.write(&args)?;
    }
    if args.only.is_none() {
        measured.growth(&args)?;
        measured.write(&args)?;
    }
    ensure!(measured.missing.is_empty(), "missing: {}", measured.missing.join("; "));
    Ok(())
}

impl Measured {
    fn rows(&mut self, args: &Args) -> Result<()> {
        let effort = if args.quick { Effort::quick() } else { Effort::full(args.rounds) };
        let mut report = Report::new(Machine::look()?, effort.rounds);
        println!("{report}");
        let chosen = |row: &&rows::Row| args.only.as_deref().is_none_or(|only| only == row.name);
        for row in rows::ALL.iter().filter(chosen) {
            eprintln!("measuring: {}", row.name);
            match attempt(|| (row.run)(&effort)) {
                Ok(tables) => println!("{}", report.add(tables)),
                Err(error) => self.miss(row.name, &error),
            }
            self.report = Some(report.clone());
            self.write_json(args)?;
        }
        Ok(())
    }

    fn growth(&mut self, args: &Args) -> Result<()> {
        let extent = if args.quick { Extent::quick() } else { Extent::full() };
        let mut chapter = Chapter::new(Machine::look()?);
        println!("{chapter}");
        for (name, curve) in growth::run(&extent) {
            match curve {
                Ok(curve) => println!("{}", chapter.add(curve)),
                Err(error) => self.miss(name, &error),
            }
        }
        self.growth = Some(chapter);
        Ok(())
    }

    fn miss(&mut self, name: &str, error: &Error) {
        eprintln!("not measured: {name}: {error:#}");
        self.missing.push(format!("{name} ({error:#})"));
    }

    /// In place of what was there, where that may be replaced. Plots of less than a whole run lie apart.
    fn write(&self, args: &Args) -> Result<()> {
        self.write_json(args)?;
        let home = Path::new(env!("CARGO_MANIFEST_DIR"));
        let is_whole = args.only.is_none() && !args.quick && self.missing.is_empty();
        let (report, growth) = (self.report.as_ref(), self.growth.as_ref());
        if is_whole {
            let [rows, growth] = [report.map(ToString::to_string), growth.map(ToString::to_string)];
            results::renew(&home.join("RESULTS.md"), rows.as_deref(), growth.as_deref())?;
        }
        let plots = home.join(if is_whole { "plots" } else { "target/plots" });
        plots::write_curves(&plots, growth.map_or(&[], Chapter::curves))?;
        plots::write_overview(&plots, report.map_or(&[], Report::tables))
    }

    fn write_json(&self, args: &Args) -> Result<()> {
        let Some(file) = &args.json else { return Ok(()) };
        let json = serde_json::to_string_pretty(self)?;
        fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))
    }
}

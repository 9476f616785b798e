//! Measures Forebay beside what its users would pick instead, and writes `RESULTS.md`.
//!
//! | to add | do |
//! |---|---|
//! | a row | a file in `rows/`, and its line in `rows::ALL` |
//! | a peer | a crate in `peers/` with one exact version, which implements traits of `contest` |
//! | a peer in another language | a script in `peers/` with exact versions, and its `Source` in `programs` |
//!
//! What a row measures is a trait in `contest`; `ours` is Forebay as a contestant; `weigh` is the program
//! whose allocator counts.

mod cores;
mod machine;
mod programs;
mod report;
mod rounds;
mod rows;
mod steps;
mod stopwatch;
mod table;
mod zipf;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, builder::PossibleValuesParser};

use crate::{machine::Machine, report::Report, rows::Effort};

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

    /// Measures little, to see that everything runs, and leaves RESULTS.md alone.
    #[arg(long)]
    quick: bool,

    /// Writes the figures as JSON to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let machine = Machine::look()?;
    let effort = if args.quick { Effort::quick() } else { Effort::full(args.rounds) };
    let chosen = |row: &&rows::Row| args.only.as_deref().is_none_or(|only| only == row.name);
    let tables = rows::ALL.iter().filter(chosen).map(|row| {
        eprintln!("measuring: {}", row.name);
        (row.run)(&effort)
    });
    let report = Report::new(machine, effort.rounds, tables.collect::<Result<Vec<_>>>()?.concat());
    println!("{report}");
    if let Some(file) = &args.json {
        fs::write(file, report.to_json()?).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.only.is_none() && !args.quick {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/RESULTS.md");
        let kept = fs::read_to_string(file).map(|text| chaos(&text).to_owned()).unwrap_or_default();
        fs::write(file, format!("{report}{kept}")).with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

/// The chapter of `cargo xtask chaos --report`, which is put there by hand and stays.
fn chaos(text: &str) -> &str {
    text.find("\n## Chaos\n").map_or("", |at| &text[at..])
}

//! A whole run, as people and as programs read it.

use std::fmt;

use serde::Serialize;

use crate::{
    machine::Machine,
    table::{Figure, Table},
};

const HEAD: &str = "\
# Forebay beside its peers

`cargo xtask bench` wrote this file up to the chapter on chaos; change `bench/` and run it again rather than edit that.
The chapters from there on are put in by hand, and stay: they are what `cargo xtask chaos` and the examples measure.
`--quick` shows within minutes that everything runs, `--only ROW` measures one row, `--json FILE` keeps every sample.

All contestants of a row are measured once a round, each round beginning with another one. A figure is the median over
the rounds, its spread the lowest and the highest of them; a ratio is the median of the ratios within each round. A table
with fewer rounds than the others says so.
Read ratios, not absolutes; under 20 % means nothing: beside its peers, each figure of Forebay is ahead, behind, or level
with those within a factor of 1.2. The chapter on where Forebay is behind has the reasons.
";

/// The figures of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    machine: Machine,
    rounds: u32,
    tables: Vec<Table>,
}

/// The tables of one row, in a run of so many rounds.
struct Row<'a> {
    tables: &'a [Table],
    rounds: u32,
}

impl Report {
    /// Without a row.
    pub fn new(machine: Machine, rounds: u32) -> Self {
        Self { machine, rounds, tables: Vec::new() }
    }

    /// Takes the tables of a row, and hands them out as text.
    pub fn add(&mut self, tables: Vec<Table>) -> impl fmt::Display + use<'_> {
        let first = self.tables.len();
        self.tables.extend(tables);
        Row { tables: &self.tables[first..], rounds: self.rounds }
    }

    /// All tables so far.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, cpu, kernel, rustc, load, date } = &self.machine;
        writeln!(f, "{HEAD}")?;
        writeln!(f, "{date} · {cores} cores of {cpu} · Linux {kernel} · {rustc}")?;
        writeln!(f, "{} rounds · load average when it began: {load}", self.rounds)?;
        let rows = self.tables.chunk_by(|one, next| one.row == next.row);
        rows.map(|tables| Row { tables, rounds: self.rounds }).try_for_each(|row| write!(f, "{row}"))
    }
}

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = "";
        for table in self.tables {
            writeln!(f, "\n## {}\n", table.title)?;
            if table.about != told {
                writeln!(f, "{}\n", table.about)?;
            }
            told = &table.about;
            match table.rounds() {
                rounds if rounds == self.rounds as usize => {}
                1 => writeln!(f, "One round.\n")?,
                rounds => writeln!(f, "{rounds} rounds.\n")?,
            }
            write!(f, "{table}")?;
        }
        Ok(())
    }
}

/// There is no ratio to nothing, and no end to a wait for nothing.
fn finite(figure: f64, places: usize) -> String {
    if figure.is_finite() { format!("{figure:.places$}") } else { "–".to_owned() }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | {} | spread | ratio to {} |\n|---|---:|---:|---:|", self.unit, self.base)?;
        for figure in &self.figures {
            let Figure { name, median, lowest, highest, ratio, .. } = figure;
            let [median, lowest, highest] =
                [median, lowest, highest].map(|&figure| finite(figure, self.decimals));
            writeln!(f, "| {name} | {median} | {lowest} – {highest} | {} |", finite(*ratio, 2))?;
        }
        if !self.bounds.is_empty() {
            writeln!(f)?;
        }
        for bound in &self.bounds {
            let verdict = if bound.kept { "kept" } else { "**missed**" };
            writeln!(f, "- {}: {:.2}, {verdict}", bound.promise, bound.measured)?;
        }
        if !self.verdicts.is_empty() {
            writeln!(f, "\nBeside its peers:\n")?;
        }
        for verdict in &self.verdicts {
            writeln!(f, "- {verdict}")?;
        }
        Ok(())
    }
}

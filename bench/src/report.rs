//! A whole run, as people and as programs read it.

use std::fmt;

use anyhow::Result;
use serde::Serialize;

use crate::{
    machine::Machine,
    table::{Figure, Table},
};

const HEAD: &str = "\
# Forebay beside its peers

`cargo xtask bench` wrote this file; change `bench/` and run it again rather than edit it.
`--quick` shows in a few seconds that everything runs, `--only ROW` measures one row, `--json FILE` keeps every sample.

All contestants of a row are measured once a round, each round beginning with another one. A figure is the median over
the rounds, its spread the lowest and the highest of them; a ratio is the median of the ratios within each round.
Read ratios, not absolutes; under 20 % means nothing.
";

/// The figures of one run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    rounds: u32,
    tables: Vec<Table>,
}

impl Report {
    pub(crate) fn new(machine: Machine, rounds: u32, tables: Vec<Table>) -> Self {
        Self { machine, rounds, tables }
    }

    pub(crate) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, cpu, kernel, rustc, load, date } = &self.machine;
        writeln!(f, "{HEAD}")?;
        writeln!(f, "{date} · {cores} cores of {cpu} · Linux {kernel} · {rustc}")?;
        writeln!(f, "{} rounds · load average when it began: {load}", self.rounds)?;
        let mut told = "";
        for table in &self.tables {
            writeln!(f, "\n## {}\n", table.title)?;
            if table.about != told {
                writeln!(f, "{}\n", table.about)?;
            }
            told = &table.about;
            write!(f, "{table}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| | {} | spread | ratio to {} |\n|---|---:|---:|---:|", self.unit, self.base)?;
        for figure in &self.figures {
            let Figure { name, median, lowest, highest, ratio, .. } = figure;
            let places = self.decimals;
            writeln!(
                f,
                "| {name} | {median:.places$} | {lowest:.places$} – {highest:.places$} | {ratio:.2} |"
            )?;
        }
        if !self.bounds.is_empty() {
            writeln!(f)?;
        }
        for bound in &self.bounds {
            let verdict = if bound.kept { "kept" } else { "**missed**" };
            writeln!(f, "- {}: {:.2}, {verdict}", bound.promise, bound.measured)?;
        }
        Ok(())
    }
}

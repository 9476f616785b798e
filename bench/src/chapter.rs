//! The chapter on growth, as people and as programs read it.

use std::fmt;

use serde::Serialize;
use tally::{machine::Machine, spelled::rounded};

use crate::growth::{Curve, Line, Point, ROUNDS};

const HEAD: &str = "\
`cargo xtask bench --growth` measures this chapter alone. A figure is the median of the rounds, in parentheses their lowest
and highest; plots have a band between these. Read the shape of a curve, not its height: that is this machine's.
";

/// All curves of one run.
#[derive(Debug, Serialize)]
pub(crate) struct Chapter {
    machine: Machine,
    curves: Vec<Curve>,
}

impl Chapter {
    /// Without a curve.
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, curves: Vec::new() }
    }

    /// Takes a curve, and hands it out as text.
    pub(crate) fn add(&mut self, curve: Curve) -> &Curve {
        let at = self.curves.len();
        self.curves.push(curve);
        &self.curves[at]
    }

    pub(crate) fn curves(&self) -> &[Curve] {
        &self.curves
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, cpu, load, date, .. } = &self.machine;
        writeln!(f, "\n## Growth\n\n{HEAD}")?;
        writeln!(
            f,
            "{date} · {cores} cores of {cpu} · {} rounds · load average when it began: {load}",
            ROUNDS.most
        )?;
        self.curves.iter().try_for_each(|curve| write!(f, "{curve}"))
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, title, about, bends, .. } = self;
        writeln!(f, "\n### {title}\n\n{about}\n\n![{title}](plots/{name}.svg)\n")?;
        self.table(f)?;
        for missing in &self.missing {
            writeln!(f, "\nMissing: {missing}.")?;
        }
        writeln!(f, "\nWhere it bends:\n{bends}")
    }
}

impl Curve {
    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} |", self.more)?;
        self.lines.iter().try_for_each(|line| write!(f, " {}, {} |", line.name, self.unit))?;
        self.beside.iter().try_for_each(|line| write!(f, " {} |", line.name))?;
        let columns = self.lines.len() + self.beside.len();
        writeln!(f, "\n|---:|{}", "---:|".repeat(columns))?;
        for at in self.ats() {
            write!(f, "| {} |", self.scale.spell(at))?;
            let mut lines = self.lines.iter().chain(&self.beside);
            lines.try_for_each(|line| write!(f, " {} |", cell(line, at)))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

fn cell(line: &Line, at: u64) -> String {
    match line.at(at) {
        None => "–".to_owned(),
        Some(Point { median, lowest, highest, .. }) if lowest == highest => rounded(*median),
        Some(Point { median, lowest, highest, .. }) => {
            format!("{} ({} – {})", rounded(*median), rounded(*lowest), rounded(*highest))
        }
    }
}

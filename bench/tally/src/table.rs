//! A table of figures: medians, spreads, ratios to one contestant, and the bounds that they have to keep.

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::{
    rounds::{Played, Samples},
    verdict::Verdict,
};

/// The figures of one measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// The row that it belongs to.
    pub row: &'static str,
    /// Its heading.
    pub title: String,
    /// What was measured, and how.
    pub about: String,
    /// Of all figures.
    pub unit: &'static str,
    /// Of a figure as people read it.
    pub decimals: usize,
    /// Whose figure the ratios are to.
    pub base: &'static str,
    /// One of each contestant.
    pub figures: Vec<Figure>,
    /// What the figures have to keep.
    pub bounds: Vec<Bound>,
    /// How ours stand beside their peers.
    pub verdicts: Vec<Verdict>,
}

/// What one contestant reached.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Of all rounds.
    pub median: f64,
    /// The lowest round.
    pub lowest: f64,
    /// The highest round.
    pub highest: f64,
    /// The median of the ratios to the base within each round.
    pub ratio: f64,
    /// One of each round.
    pub samples: Vec<f64>,
}

/// A promise about the figures.
#[derive(Debug, Clone, Serialize)]
pub struct Bound {
    /// What is promised.
    pub promise: String,
    /// The figure that it is about.
    pub measured: f64,
    /// Whether it is kept.
    pub kept: bool,
}

impl Table {
    /// A table without bounds. All samples of `measured` belong to the same rounds.
    ///
    /// # Panics
    ///
    /// Panics if `base` is not among them.
    pub fn new(row: &'static str, base: &'static str, measured: Vec<Samples<f64>>) -> Self {
        let based = measured.iter().find(|side| side.name == base).expect("the base is measured");
        let based = based.samples.clone();
        let figures = measured.into_iter().map(|side| Figure::new(side, &based)).collect();
        Self {
            row,
            title: String::new(),
            about: String::new(),
            unit: "",
            decimals: 0,
            base,
            figures,
            bounds: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// A table of what could be measured, which says what is missing.
    ///
    /// # Errors
    ///
    /// Nothing could be measured of `base`, or of one of `others`.
    pub fn of(
        row: &'static str,
        base: &'static str,
        played: Played<f64>,
        about: &str,
        others: &[&str],
    ) -> Result<Self> {
        let Played { samples, missing } = played;
        for needed in [base].iter().chain(others) {
            let is_there = samples.iter().any(|side| side.name == *needed);
            ensure!(is_there, "nothing can be measured of {needed}: {}", missing.join("; "));
        }
        let mut table = Self::new(row, base, samples);
        table.about = missing.iter().fold(about.into(), |about, one| format!("{about}\nMissing: {one}."));
        Ok(table)
    }

    /// The median of the ratios of `name` to `to` within each round.
    pub fn ratio(&self, name: &str, to: &str) -> f64 {
        median(&ratios(&self.figure(name).samples, &self.figure(to).samples))
    }

    /// In how many rounds it was measured.
    pub fn rounds(&self) -> usize {
        self.figures.first().map_or(0, |figure| figure.samples.len())
    }

    /// That of one contestant.
    ///
    /// # Panics
    ///
    /// Panics if it was not measured.
    pub fn figure(&self, name: &str) -> &Figure {
        self.figures.iter().find(|figure| figure.name == name).expect("every contestant has a figure")
    }

    /// The bound that `name` has more than each other one but `excepted`.
    pub fn bound_ahead(&mut self, name: &str, excepted: &[&str]) {
        let others = self.figures.iter().map(|figure| figure.name);
        let others: Vec<_> = others.filter(|other| *other != name && !excepted.contains(other)).collect();
        for other in others {
            let ratio = self.ratio(name, other);
            self.bound(format!("Forebay is ahead of {other}"), ratio, ratio > 1.0);
        }
    }

    /// Puts a promise beside the figure that it is about.
    pub fn bound(&mut self, promise: impl Into<String>, measured: f64, kept: bool) {
        self.bounds.push(Bound { promise: promise.into(), measured, kept });
    }
}

impl Figure {
    fn new(side: Samples<f64>, base: &[f64]) -> Self {
        let samples = side.samples;
        Self {
            name: side.name,
            median: median(&samples),
            lowest: samples.iter().copied().fold(f64::INFINITY, f64::min),
            highest: samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ratio: median(&ratios(&samples, base)),
            samples,
        }
    }
}

fn ratios(samples: &[f64], to: &[f64]) -> Vec<f64> {
    samples.iter().zip(to).map(|(sample, base)| sample / base).collect()
}

/// The middle of all samples, of which there is one at least.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

//! A table of figures: medians, spreads, ratios to one contestant, and the bounds that they have to keep.

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::rounds::{Played, Samples};

/// The figures of one measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    pub(crate) row: &'static str,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) unit: &'static str,
    pub(crate) decimals: usize,
    pub(crate) base: &'static str,
    pub(crate) figures: Vec<Figure>,
    pub(crate) bounds: Vec<Bound>,
}

/// What one contestant reached.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// The median of the ratios to the base within each round.
    pub(crate) ratio: f64,
    pub(crate) samples: Vec<f64>,
}

/// A promise about the figures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Bound {
    pub(crate) promise: String,
    pub(crate) measured: f64,
    pub(crate) kept: bool,
}

impl Table {
    /// A table without bounds. All samples of `measured` belong to the same rounds.
    ///
    /// # Panics
    ///
    /// Panics if `base` is not among them.
    pub(crate) fn new(row: &'static str, base: &'static str, measured: Vec<Samples<f64>>) -> Self {
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
        }
    }

    /// A table of what could be measured, which says what is missing.
    ///
    /// # Errors
    ///
    /// Nothing could be measured of `base`, or of one of `others`.
    pub(crate) fn of(
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
    pub(crate) fn ratio(&self, name: &str, to: &str) -> f64 {
        median(&ratios(&self.figure(name).samples, &self.figure(to).samples))
    }

    /// In how many rounds it was measured.
    pub(crate) fn rounds(&self) -> usize {
        self.figures.first().map_or(0, |figure| figure.samples.len())
    }

    pub(crate) fn figure(&self, name: &str) -> &Figure {
        self.figures.iter().find(|figure| figure.name == name).expect("every contestant has a figure")
    }

    /// The bound that `name` has more than each other one but `excepted`.
    pub(crate) fn bound_ahead(&mut self, name: &str, excepted: &[&str]) {
        let others = self.figures.iter().map(|figure| figure.name);
        let others: Vec<_> = others.filter(|other| *other != name && !excepted.contains(other)).collect();
        for other in others {
            let ratio = self.ratio(name, other);
            self.bound(format!("Forebay is ahead of {other}"), ratio, ratio > 1.0);
        }
    }

    pub(crate) fn bound(&mut self, promise: impl Into<String>, measured: f64, kept: bool) {
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

pub(crate) fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

//! A table of figures: medians, spreads, ratios to one contestant, and the bounds that they have to keep.

use serde::Serialize;

use crate::rounds::Samples;

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

    /// The median of the ratios of `name` to `to` within each round.
    pub(crate) fn ratio(&self, name: &str, to: &str) -> f64 {
        median(&ratios(&self.figure(name).samples, &self.figure(to).samples))
    }

    pub(crate) fn figure(&self, name: &str) -> &Figure {
        self.figures.iter().find(|figure| figure.name == name).expect("every contestant has a figure")
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

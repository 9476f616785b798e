//! A curve: what a request costs, the more there is of something.

use serde::Serialize;
use tally::{rounds::Samples, table::median};

/// What was measured of one growth.
#[derive(Debug, Serialize)]
pub(crate) struct Curve {
    /// Also the name of the file with its plot.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// Of what there is more.
    pub(crate) more: &'static str,
    pub(crate) scale: Scale,
    /// Of all lines that are plotted.
    pub(crate) unit: &'static str,
    pub(crate) lines: Vec<Line>,
    /// In the table only, in units that their names say.
    pub(crate) beside: Vec<Line>,
    /// Why it bends where it does.
    pub(crate) bends: &'static str,
    /// What could not be measured.
    pub(crate) missing: Vec<String>,
}

/// How the number is spelled of which there is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Scale {
    Count,
    Bytes,
}

#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<Point>,
}

/// One figure, where there is so much.
#[derive(Debug, Serialize)]
pub(crate) struct Point {
    pub(crate) at: u64,
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    samples: Vec<f64>,
}

impl Curve {
    /// Where there are points, in order.
    pub(crate) fn ats(&self) -> Vec<u64> {
        let lines = self.lines.iter().chain(&self.beside);
        let mut ats: Vec<u64> = lines.flat_map(|line| &line.points).map(|point| point.at).collect();
        ats.sort_unstable();
        ats.dedup();
        ats
    }
}

impl Line {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, points: Vec::new() }
    }

    /// A line with a point for each of `ats`, in the order of what was played.
    pub(crate) fn of(name: &'static str, ats: &[u64], played: Vec<Samples<f64>>) -> Self {
        let points = ats.iter().zip(played).map(|(&at, side)| Point::new(at, side.samples));
        Self { name, points: points.collect() }
    }

    pub(crate) fn push(&mut self, at: u64, samples: Vec<f64>) {
        self.points.push(Point::new(at, samples));
    }

    pub(crate) fn at(&self, at: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.at == at)
    }

    /// The same line with other figures.
    pub(crate) fn map(&self, name: &'static str, figure: impl Fn(u64, f64) -> f64) -> Self {
        let moved = |point: &Point| {
            let samples = point.samples.iter().map(|&sample| figure(point.at, sample));
            Point::new(point.at, samples.collect())
        };
        Self { name, points: self.points.iter().map(moved).collect() }
    }
}

impl Point {
    fn new(at: u64, samples: Vec<f64>) -> Self {
        Self {
            at,
            median: median(&samples),
            lowest: samples.iter().copied().fold(f64::INFINITY, f64::min),
            highest: samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            samples,
        }
    }
}

impl Scale {
    /// A number as people read it: `10,000`, or `64 KiB`.
    pub(crate) fn spell(self, at: u64) -> String {
        match self {
            Self::Count => tally::spelled::count(at),
            Self::Bytes => tally::spelled::bytes(at),
        }
    }
}

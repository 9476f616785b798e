//! The plot of a curve: its lines on axes of equal ratios, each with a band from its lowest to its highest round.

use tally::spelled::rounded;

use super::{
    axis::Axis,
    drawing::{Anchor, Drawing},
};
use crate::growth::{Curve, Line, Point};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = WIDTH - 36.0;
/// The part with the lines.
const TALL: f64 = 300.0;
/// A line of text.
const TEXT: f64 = 20.0;

const COLOURS: [&str; 3] = ["first", "second", "third"];

/// Two axes.
struct Axes {
    x: Axis,
    y: Axis,
    top: f64,
}

pub(super) fn drawn(curve: &Curve) -> String {
    let top = 72.0 + TEXT * curve.lines.len() as f64;
    let axes = Axes::of(curve, top);
    let mut drawing = Drawing::new(WIDTH, top + TALL + 56.0);
    drawing.text("title", Anchor::Start, (16.0, 28.0), curve.title);
    axes.draw(curve, &mut drawing);
    for (index, line) in curve.lines.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let y = 52.0 + TEXT * index as f64;
        drawing.line(&format!("line {colour}"), (16.0, y - 4.0), (40.0, y - 4.0));
        drawing.text("legend", Anchor::Start, (48.0, y), line.name);
        axes.plot(line, colour, &mut drawing);
    }
    drawing.finish(&format!("{}: {}", curve.title, curve.unit))
}

impl Axes {
    fn of(curve: &Curve, top: f64) -> Self {
        let points = curve.lines.iter().flat_map(|line| &line.points);
        let figures = points.flat_map(|point| [point.lowest, point.highest]);
        let ats = curve.ats();
        let (least, most) = (ats.first().copied().unwrap_or(1), ats.last().copied().unwrap_or(1));
        let x = Axis::between(least as f64, most as f64, LEFT + 24.0, RIGHT - 24.0);
        Self { x, y: Axis::around(figures, top + TALL, top), top }
    }

    fn draw(&self, curve: &Curve, drawing: &mut Drawing) {
        let bottom = self.top + TALL;
        drawing.text("quiet", Anchor::Start, (16.0, self.top - 14.0), curve.unit);
        for mark in self.y.marks() {
            let y = self.y.pixel(mark);
            drawing.line("grid", (LEFT, y), (RIGHT, y));
            drawing.text("quiet", Anchor::End, (LEFT - 8.0, y + 4.0), &rounded_mark(mark));
        }
        drawing.line("axis", (LEFT, bottom), (RIGHT, bottom));
        for at in curve.ats() {
            let x = self.x.pixel(at as f64);
            drawing.line("axis", (x, bottom), (x, bottom + 5.0));
            drawing.text("quiet", Anchor::Middle, (x, bottom + 20.0), &curve.scale.spell(at));
        }
        drawing.text("quiet", Anchor::Middle, ((LEFT + RIGHT) / 2.0, bottom + 44.0), curve.more);
    }

    fn plot(&self, line: &Line, colour: &str, drawing: &mut Drawing) {
        let place = |point: &Point, figure: f64| (self.x.pixel(point.at as f64), self.y.pixel(figure));
        let highest = line.points.iter().map(|point| place(point, point.highest));
        let lowest = line.points.iter().rev().map(|point| place(point, point.lowest));
        drawing.around(&format!("band {colour}"), &highest.chain(lowest).collect::<Vec<_>>());
        let medians: Vec<_> = line.points.iter().map(|point| place(point, point.median)).collect();
        drawing.through(&format!("line {colour}"), &medians);
        for median in medians {
            drawing.dot(&format!("dot {colour}"), median);
        }
    }
}

/// Without the digits that a mark does not need.
fn rounded_mark(mark: f64) -> String {
    let spelled = rounded(mark);
    if spelled.contains('.') {
        spelled.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        spelled
    }
}

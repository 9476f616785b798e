//! The figures of a table as bars.

use tally::{
    spelled::rounded,
    table::{Figure, Table},
};

use super::drawing::{Anchor, Drawing};

pub(super) const WIDTH: f64 = 760.0;

/// Names end here, bars begin behind it.
const NAMES: f64 = 290.0;

/// What a bar may take, so that its figure has room behind it.
const LONGEST: f64 = WIDTH - NAMES - 110.0;

const BAR: f64 = 24.0;
const HEAD: f64 = 44.0;

pub(super) fn height(table: &Table) -> f64 {
    HEAD + BAR * table.figures.len() as f64 + 16.0
}

/// Draws the bars from `top` on, in the order of the table.
pub(super) fn draw(drawing: &mut Drawing, top: f64, table: &Table, title: &str) {
    drawing.text("title", Anchor::Start, (16.0, top + 28.0), title);
    let most = table.figures.iter().map(|figure| figure.highest).fold(f64::MIN_POSITIVE, f64::max);
    for (index, figure) in table.figures.iter().enumerate() {
        bar(drawing, top + HEAD + BAR * index as f64, figure, LONGEST / most);
    }
}

fn bar(drawing: &mut Drawing, top: f64, figure: &Figure, scale: f64) {
    let middle = top + BAR / 2.0;
    let colour = if figure.name.starts_with("Forebay") { "first" } else { "others" };
    drawing.text("name", Anchor::End, (NAMES - 8.0, middle + 4.0), figure.name);
    drawing.rectangle(
        &format!("bar {colour}"),
        (NAMES, top + 4.0),
        ((figure.median * scale).max(1.0), BAR - 8.0),
    );
    let [lowest, highest] = [figure.lowest, figure.highest].map(|end| NAMES + end * scale);
    drawing.line("spread", (lowest, middle), (highest, middle));
    let end = NAMES + figure.median.max(figure.highest) * scale;
    drawing.text("figure", Anchor::Start, (end + 8.0, middle + 4.0), &rounded(figure.median));
}

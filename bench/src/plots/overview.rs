//! What a README shows of all tables.

use anyhow::{Context, Result};
use tally::table::Table;

use super::{bars, drawing::Drawing};

/// A table by its row and its title, and what the overview calls it.
const SHOWN: [[&str; 3]; 2] = [
    ["hit-redis", "Hit in Redis, 4 KiB, 64 tasks", "Hits in Redis a second, 64 callers, values of 4 KiB"],
    [
        "processes",
        "1,000 callers in four processes on one missing key: loads",
        "Loads for 1,000 callers on one missing key in four processes",
    ],
];

/// The tables of the rows that were measured, one below the other.
pub(super) fn drawn(tables: &[Table]) -> Result<Option<String>> {
    let found = SHOWN.iter().filter(|[row, ..]| tables.iter().any(|table| table.row == *row));
    let found = found.map(|[row, title, called]| {
        let table = tables.iter().find(|table| table.row == *row && table.title == *title);
        Ok((table.with_context(|| format!("{row} has no table {title:?} for the overview"))?, *called))
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    let height: f64 = found.iter().map(|(table, _)| bars::height(table)).sum();
    let (mut drawing, mut top) = (Drawing::new(bars::WIDTH, height), 0.0);
    for (table, called) in &found {
        bars::draw(&mut drawing, top, table, called);
        top += bars::height(table);
    }
    let titles: Vec<_> = found.iter().map(|(_, called)| *called).collect();
    Ok((!found.is_empty()).then(|| drawing.finish(&titles.join("; "))))
}

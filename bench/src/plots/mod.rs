//! The plots: one of each curve, and one of two tables for the README.

mod axis;
mod bars;
mod curve;
mod drawing;
mod overview;

use std::{fs, path::Path};

use anyhow::{Context, Result};
use tally::table::Table;

use crate::growth::Curve;

/// Writes one file for each curve.
pub(crate) fn write_curves(folder: &Path, curves: &[Curve]) -> Result<()> {
    curves.iter().try_for_each(|curve| write(folder, curve.name, &curve::drawn(curve)))
}

/// Writes the overview of the tables that it shows, if there are any.
pub(crate) fn write_overview(folder: &Path, tables: &[Table]) -> Result<()> {
    overview::drawn(tables)?.map_or(Ok(()), |drawn| write(folder, "overview", &drawn))
}

fn write(folder: &Path, name: &str, drawn: &str) -> Result<()> {
    let file = folder.join(name).with_extension("svg");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&file, drawn))
        .with_context(|| format!("cannot write {}", file.display()))
}

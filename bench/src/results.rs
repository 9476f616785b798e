//! `RESULTS.md`, in which a run replaces the chapters that it has measured.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use anyhow::{Context, Result};

const GROWTH: &str = "\n## Growth\n";

/// The chapter of `cargo xtask chaos --report`, which is put there by hand and stays, as does what comes after it.
const CHAOS: &str = "\n## Chaos\n";

/// Writes `rows` and `growth` in place of what was there; what is not given stays.
pub(crate) fn renew(file: &Path, rows: Option<&str>, growth: Option<&str>) -> Result<()> {
    let text = read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (before, chaos) = split(&text, CHAOS);
    let (old_rows, old_growth) = split(before, GROWTH);
    let renewed = [rows.unwrap_or(old_rows), growth.unwrap_or(old_growth), chaos].concat();
    fs::write(file, renewed).with_context(|| format!("cannot write {}", file.display()))
}

/// Nothing, where there is no file yet: one that cannot be read has chapters that would be lost.
fn read(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// What is before `chapter`, and all from there on.
fn split<'a>(text: &'a str, chapter: &str) -> (&'a str, &'a str) {
    text.split_at(text.find(chapter).unwrap_or(text.len()))
}

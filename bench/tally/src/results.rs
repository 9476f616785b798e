//! `RESULTS.md`, in which a run replaces the chapters that it has measured.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use anyhow::{Context, Result};

const GROWTH: &str = "\n## Growth\n";

const BEHIND: &str = "\n## Where Forebay is behind\n";

/// The chapter of `cargo xtask chaos --report`, which is put there by hand and stays, as does what comes after it.
const CHAOS: &str = "\n## Chaos\n";

/// What a run has measured, as text.
#[derive(Debug, Default)]
pub struct Chapters {
    /// The head of the file, and all rows.
    pub rows: Option<String>,
    /// All curves.
    pub growth: Option<String>,
    /// What the rows say of where Forebay is behind.
    pub behind: Option<String>,
}

/// Writes the chapters in place of what was there; what is not given stays.
///
/// # Errors
///
/// The file cannot be read, or not be written.
pub fn renew(file: &Path, chapters: &Chapters) -> Result<()> {
    let text = read(file).with_context(|| format!("cannot read {}", file.display()))?;
    fs::write(file, renewed(&text, chapters)).with_context(|| format!("cannot write {}", file.display()))
}

fn renewed(text: &str, Chapters { rows, growth, behind }: &Chapters) -> String {
    let (before, chaos) = split(text, CHAOS);
    let (before, old_behind) = split(before, BEHIND);
    let (old_rows, old_growth) = split(before, GROWTH);
    let [rows, growth, behind] = [(rows, old_rows), (growth, old_growth), (behind, old_behind)]
        .map(|(new, old)| new.as_deref().unwrap_or(old));
    [rows, growth, behind, chaos].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rows\n\n## Growth\nold\n\n## Where Forebay is behind\nold\n\n## Chaos\nby hand\n";

    #[test]
    fn what_was_not_measured_stays() {
        let growth = Some("\n## Growth\nnew\n".to_owned());
        let grown = renewed(TEXT, &Chapters { growth, ..Chapters::default() });
        assert_eq!(grown, TEXT.replacen("old", "new", 1));
    }

    #[test]
    fn a_file_without_a_chapter_gets_it_before_what_is_by_hand() {
        let behind = Some("\n## Where Forebay is behind\nnew\n".to_owned());
        let text = renewed("rows\n\n## Chaos\nby hand\n", &Chapters { behind, ..Chapters::default() });
        assert_eq!(text, "rows\n\n## Where Forebay is behind\nnew\n\n## Chaos\nby hand\n");
    }
}

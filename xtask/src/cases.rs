//! The known faults of limiters and the like, by their numbers: each is a test, or does not apply for a reason.

use std::{collections::BTreeSet, fmt, fs, path::Path};

use anyhow::{Context, Result};

use crate::{root, test::Outcome, totals::Totals};

/// The numbers of all faults.
const ROWS: &str = "crates/forebay/tests/rows.txt";

/// Those that cannot happen here, in the first column of a table.
const NOT_APPLICABLE: &str = "crates/forebay/tests/not_applicable.md";

/// Where tests lie, which name in a comment the fault that they are about.
const FOLDERS: [&str; 4] = ["crates", "examples", "rig", "trials"];

/// What has become of the known faults.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cases {
    tests: Vec<String>,
    not_applicable: Vec<String>,
    neither: Vec<String>,
}

/// Fails if a known fault is neither a test nor a line with a reason.
pub(crate) fn check() -> Result<Outcome> {
    let cases = Cases::read(root())?;
    println!("{cases}");
    let failed = || Outcome::Failed(Totals::default());
    Ok(if cases.neither.is_empty() { Outcome::passed() } else { failed() })
}

impl Cases {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tested = BTreeSet::new();
        for folder in FOLDERS {
            comments(&root.join(folder), &mut tested)?;
        }
        let read = |file| fs::read_to_string(root.join(file)).with_context(|| format!("{file} is not there"));
        Ok(Self::of(&read(ROWS)?, &tested, &read(NOT_APPLICABLE)?))
    }

    /// A fault that has a test needs no reason: what is in both places is a test.
    fn of(rows: &str, tested: &BTreeSet<String>, not_applicable: &str) -> Self {
        let first_columns =
            not_applicable.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
        let excused: BTreeSet<String> = first_columns.flat_map(numbers).collect();
        let lines = rows.lines().filter(|line| !line.starts_with('#'));
        let mut cases = Self::default();
        for row in lines.flat_map(numbers) {
            let place = match (tested.contains(&row), excused.contains(&row)) {
                (true, _) => &mut cases.tests,
                (false, true) => &mut cases.not_applicable,
                (false, false) => &mut cases.neither,
            };
            place.push(row);
        }
        cases
    }
}

/// Adds the numbers in the comments of the tests of a folder.
fn comments(folder: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            comments(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let path = path.strip_prefix(root()).unwrap_or(&path);
            let comments = tests(path, &text).lines().filter_map(|line| Some(line.split_once("//")?.1));
            found.extend(comments.flat_map(numbers));
        }
    }
    Ok(())
}

/// What of a source file is tests: all of it, or what begins with `mod tests`. A comment on other code tests nothing.
fn tests<'a>(path: &Path, text: &'a str) -> &'a str {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    if parts.any(|part| ["tests", "proofs", "tests.rs"].contains(&part)) {
        return text;
    }
    text.find("\nmod tests {").map_or("", |start| &text[start..])
}

/// The words of `text` that are one capital and a number, as in `R12`.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_number = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|first| first.is_ascii_uppercase())
            && word.len() > 1
            && chars.all(|c| c.is_ascii_digit())
    };
    words.filter(is_number).map(str::to_owned).collect()
}

impl fmt::Display for Cases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tests, not_applicable) = (self.tests.len(), self.not_applicable.len());
        write!(f, "known faults: {tests} are tests, {not_applicable} do not apply")?;
        match self.neither.as_slice() {
            [] => Ok(()),
            neither => write!(f, "; neither: {}", neither.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(rows: &str, comments: &str, table: &str) -> String {
        Cases::of(rows, &numbers(comments).into_iter().collect(), table).to_string()
    }

    #[test]
    fn a_comment_counts_in_tests_alone() {
        let text = "// R1\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    // R2\n}\n";
        for path in ["a/tests/b.rs", "a/src/proofs/b.rs", "a/src/b/tests.rs"] {
            assert_eq!(numbers(tests(Path::new(path), text)), ["R1", "R2"], "{path}");
        }
        assert_eq!(numbers(tests(Path::new("a/src/b.rs"), text)), ["R2"]);
        assert_eq!(tests(Path::new("a/src/b.rs"), "// R1\nmod tests;\n"), "");
    }

    #[test]
    fn each_fault_is_a_test_or_has_a_reason() {
        let table = "| case | why |\n|---|---|\n| R2, R3 | as R5 |\n| `x` | R4 |";
        assert_eq!(
            cases("# R9\nR1 R2\nP3", "R1: a fault. P3", table),
            "known faults: 2 are tests, 1 do not apply"
        );
        assert_eq!(
            cases("R1 R2 R4 R5 R11", "R10, xR5 R5x", table),
            "known faults: 0 are tests, 1 do not apply; neither: R1, R4, R5, R11"
        );
    }
}

//! How many tests passed, failed and were skipped, read from the lines in which libtest says so.

use std::{fmt, iter::Sum, ops::AddAssign};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Totals {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    /// Reads `test result: ok. 5 passed; 0 failed; 1 ignored; …`; any other line counts nothing.
    pub(crate) fn of_line(line: &str) -> Self {
        let Some((_, result)) = line.split_once("test result: ") else { return Self::default() };
        let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        let count = |name| {
            let pair = words.windows(2).find(|pair| pair[1] == name);
            pair.and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
        };
        Self { passed: count("passed"), failed: count("failed"), skipped: count("ignored") }
    }

    pub(crate) fn ran(self) -> u64 {
        self.passed + self.failed
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, more: Self) {
        self.passed += more.passed;
        self.failed += more.failed;
        self.skipped += more.skipped;
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test clock::tests::stands_still ... ok
test result: \u{1b}[32mok\u{1b}[m. 2 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.21s

test result: FAILED. 40 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s
all doctests ran in 0.42s; merged doctests compilation took 0.30s";

    #[test]
    fn sums_the_results_of_all_test_binaries() {
        let totals: Totals = OUTPUT.lines().map(Totals::of_line).sum();
        assert_eq!(totals, Totals { passed: 42, failed: 2, skipped: 1 });
    }

    #[test]
    fn prints_the_plain_line() {
        assert_eq!(
            Totals { passed: 42, failed: 2, skipped: 1 }.to_string(),
            "42 passed, 2 failed, 1 skipped"
        );
    }
}

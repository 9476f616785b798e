//! The text of `/metrics`, read back into its series.
//!
//! The format is Prometheus' text format, version 0.0.4.

use std::collections::BTreeMap;

/// All series of one moment, by the name of their family.
#[derive(Debug, Default)]
pub(crate) struct Scrape(BTreeMap<String, Vec<Series>>);

/// One line that is no comment.
#[derive(Debug, PartialEq)]
pub(crate) struct Series {
    labels: Vec<(String, String)>,
    pub(crate) value: f64,
}

impl Scrape {
    /// Reads `text`; lines that are none of the format are passed over.
    pub(crate) fn read(text: &str) -> Self {
        let mut families = BTreeMap::<_, Vec<_>>::new();
        for (name, series) in text.lines().filter_map(Series::read) {
            families.entry(name.to_owned()).or_default().push(series);
        }
        Self(families)
    }

    /// All series of a family.
    pub(crate) fn series(&self, family: &str) -> &[Series] {
        self.0.get(family).map_or(&[], Vec::as_slice)
    }

    /// The sum over the series of a family that are `wanted`, if there is one.
    pub(crate) fn sum(&self, family: &str, wanted: impl Fn(&Series) -> bool) -> Option<f64> {
        self.series(family)
            .iter()
            .filter(|series| wanted(series))
            .map(|series| series.value)
            .reduce(|a, b| a + b)
    }
}

impl Series {
    fn read(line: &str) -> Option<(&str, Self)> {
        let (name, rest) = line.split_at(line.find(['{', ' '])?);
        if name.is_empty() || name.starts_with('#') {
            return None;
        }
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => labels(rest)?,
            None => (Vec::new(), rest),
        };
        let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
        Some((name, Self { labels, value }))
    }

    /// The value of a label, or nothing.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(label, _)| label == name).map_or("", |(_, value)| value)
    }
}

/// What stands up to the closing brace, with what follows it.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, behind) = unescaped(quoted)?;
        labels.push((name.to_owned(), value));
        rest = behind;
    }
}

/// What stands up to the closing quotation mark, with what follows it.
fn unescaped(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            plain => value.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# HELP reads how many
# TYPE reads counter
reads{space=\"a\",outcome=\"memory\"} 7
reads{space=\"b } \\\"\\\\\\n\",outcome=\"store\",} 5 1799999999999

alone 1e3
lost -Inf
broken{space=\"a} 1
empty
";

    #[test]
    fn sums_what_is_wanted_of_a_family() {
        let scrape = Scrape::read(TEXT);

        assert_eq!(scrape.sum("reads", |_| true), Some(12.0));
        assert_eq!(scrape.sum("reads", |series| series.label("outcome") == "store"), Some(5.0));
        assert_eq!(scrape.sum("reads", |series| series.label("outcome") == "stale"), None);
        assert_eq!(scrape.sum("alone", |_| true), Some(1000.0));
        assert_eq!(scrape.sum("lost", |_| true), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn reads_labels_as_they_were_before_they_were_escaped() {
        assert_eq!(Scrape::read(TEXT).series("reads")[1].label("space"), "b } \"\\\n");
    }

    #[test]
    fn passes_over_what_it_cannot_read() {
        let scrape = Scrape::read(TEXT);
        assert_eq!(scrape.0.len(), 3);
    }
}

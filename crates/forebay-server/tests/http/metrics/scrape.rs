//! What `/metrics` says, read as strictly as Prometheus does.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Answered, Server};

/// The labels of one series, in order.
type Labels = Vec<(String, String)>;

/// One answer of `/metrics`.
#[derive(Debug)]
pub(super) struct Scrape {
    pub(super) text: String,
    /// The help and the type of each metric.
    pub(super) metrics: BTreeMap<String, (String, String)>,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Scrape {
    pub(super) async fn of(server: &Server) -> Self {
        let answer = Answered::to(server.get("/metrics")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Self::read(answer.body)
    }

    fn read(text: String) -> Self {
        let (mut helps, mut metrics, mut samples) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').unwrap();
                assert_eq!(helps.insert(name.to_owned(), help.to_owned()), None, "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                let help = helps.remove(name).unwrap_or_else(|| panic!("no help before {line}"));
                assert!(metrics.insert(name.to_owned(), (help, kind.to_owned())).is_none(), "{line}");
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
                assert!(samples.insert(series_of(series), value).is_none(), "twice: {line}");
            }
        }
        Self { text, metrics, samples }
    }

    /// The value of one series.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let mut labels: Labels =
            labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        labels.sort();
        let series = (name.to_owned(), labels);
        *self.samples.get(&series).unwrap_or_else(|| panic!("no {series:?} in\n{}", self.text))
    }

    /// The values of a metric that is split by outcome, but for those that are 0.
    pub(super) fn by_outcome(&self, name: &str, labels: &[(&str, &str)]) -> BTreeMap<&str, f64> {
        let is_asked = |all: &Labels| {
            labels.iter().all(|(name, value)| all.iter().any(|label| label.0 == *name && label.1 == *value))
        };
        let samples = self
            .samples
            .iter()
            .filter(|((sample, all), value)| sample == name && is_asked(all) && **value != 0.0);
        let last = |all: &Labels| all.iter().position(|(name, _)| name == "outcome" || name == "source");
        samples.map(|((_, all), value)| (all[last(all).unwrap()].1.as_str(), *value)).collect()
    }

    /// The names of all series, with their labels.
    pub(super) fn series(&self) -> BTreeSet<(String, Labels)> {
        self.samples.keys().cloned().collect()
    }

    /// Which counters have fallen since `before`.
    pub(super) fn fallen(&self, before: &Self) -> Vec<(String, Labels)> {
        let grows = |name: &str| ["_total", "_count", "_bucket"].iter().any(|end| name.ends_with(end));
        let fallen = |series: &&(String, Labels)| {
            self.samples.get(*series).is_none_or(|now| *now < before.samples[*series])
        };
        before.samples.keys().filter(|(name, _)| grows(name)).filter(fallen).cloned().collect()
    }
}

/// The name and the labels of `name{label="value",…}`.
fn series_of(text: &str) -> (String, Labels) {
    let Some((name, labels)) = text.split_once('{') else { return (checked(text), Vec::new()) };
    let mut rest = labels.strip_suffix('}').unwrap_or_else(|| panic!("no end: {text}"));
    let mut found = Labels::new();
    while !rest.is_empty() {
        let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("no label: {text}"));
        let end = after.find('"').unwrap_or_else(|| panic!("no end of a value: {text}"));
        assert!(!after[..end].contains('\\'), "{text}");
        found.push((checked(label), after[..end].to_owned()));
        rest = after[end + 1..].trim_start_matches(',');
    }
    found.sort();
    (checked(name), found)
}

fn checked(name: &str) -> String {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
    assert!(!name.is_empty() && name.chars().all(fits), "{name:?}");
    name.to_owned()
}

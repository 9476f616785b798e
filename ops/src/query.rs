//! PromQL over metrics of the table. Labels and values that a metric does not have are refused.

use std::fmt::Write;

use forebay::metrics::table::{Kind, Metric};

/// The label by which Prometheus tells processes apart, which it gives to every series.
pub const INSTANCE: &str = "instance";

/// A metric, with what is asked of its labels.
#[derive(Debug, Clone)]
pub struct Query {
    metric: Metric,
    matchers: String,
}

/// A metric as it is.
pub fn of(metric: &Metric) -> Query {
    Query { metric: *metric, matchers: String::new() }
}

impl Query {
    /// Only series whose `label` has one of `values`.
    ///
    /// # Panics
    ///
    /// Panics if there is no such label, or it never has such a value.
    #[must_use]
    pub fn only(self, label: &str, values: &[&str]) -> Self {
        self.has(label, values);
        self.with(label, "=~", &values.join("|"))
    }

    /// Only series whose `label` fits the expression.
    ///
    /// # Panics
    ///
    /// Panics if there is no such label, or its values are known.
    #[must_use]
    pub fn like(self, label: &str, expression: &str) -> Self {
        let is_open = self.metric.labels.iter().any(|known| known.name == label && known.values.is_empty());
        assert!(is_open, "{} has no open label {label}", self.metric.name);
        self.with(label, "=~", expression)
    }

    fn with(mut self, label: &str, operator: &str, value: &str) -> Self {
        let comma = if self.matchers.is_empty() { "" } else { "," };
        write!(self.matchers, "{comma}{label}{operator}\"{value}\"").expect("a string takes everything");
        self
    }

    fn has(&self, label: &str, values: &[&str]) {
        if label == INSTANCE {
            return;
        }
        let known = self.metric.labels.iter().find(|known| known.name == label);
        let known = known.unwrap_or_else(|| panic!("{} has no label {label}", self.metric.name));
        let fits = known.values.is_empty() || values.iter().all(|value| known.values.contains(value));
        assert!(fits, "{} has not all of {values:?}", self.metric.name);
    }

    fn series(&self, end: &str) -> String {
        let name = self.metric.name;
        match self.matchers.as_str() {
            "" => format!("{name}{end}"),
            matchers => format!("{name}{end}{{{matchers}}}"),
        }
    }

    fn by(&self, labels: &[&str]) -> String {
        labels.iter().for_each(|label| self.has(label, &[]));
        labels.join(", ")
    }

    /// The sum over all, by `labels`.
    #[must_use]
    pub fn sum(&self, labels: &[&str]) -> String {
        grouped("sum", &self.by(labels), &self.series(""))
    }

    /// The highest of all, by `labels`.
    #[must_use]
    pub fn highest(&self, labels: &[&str]) -> String {
        grouped("max", &self.by(labels), &self.series(""))
    }

    /// The lowest of all, by `labels`.
    #[must_use]
    pub fn lowest(&self, labels: &[&str]) -> String {
        grouped("min", &self.by(labels), &self.series(""))
    }

    /// How many in a second, over `window`, by `labels`; of a histogram how often was measured.
    #[must_use]
    pub fn rate(&self, window: &str, labels: &[&str]) -> String {
        let end = if matches!(self.metric.kind, Kind::Histogram(_)) { "_count" } else { "" };
        grouped("sum", &self.by(labels), &format!("rate({}[{window}])", self.series(end)))
    }

    /// How many in `window`, by `labels`.
    #[must_use]
    pub fn increase(&self, window: &str, labels: &[&str]) -> String {
        grouped("sum", &self.by(labels), &format!("increase({}[{window}])", self.series("")))
    }

    /// What was measured on average over `window`.
    #[must_use]
    pub fn mean(&self, window: &str) -> String {
        let [sum, count] = ["_sum", "_count"].map(|end| format!("sum(rate({}[{window}]))", self.series(end)));
        format!("{sum} / {count}")
    }

    /// Below what the share `quantile` of what was measured over `window` is, by `labels`.
    #[must_use]
    pub fn quantile(&self, quantile: f64, window: &str, labels: &[&str]) -> String {
        let by = self.by(labels);
        let by = if by.is_empty() { "le".to_owned() } else { format!("le, {by}") };
        let buckets = grouped("sum", &by, &format!("rate({}[{window}])", self.series("_bucket")));
        format!("histogram_quantile({quantile}, {buckets})")
    }
}

fn grouped(function: &str, by: &str, what: &str) -> String {
    if by.is_empty() { format!("{function}({what})") } else { format!("{function} by ({by}) ({what})") }
}

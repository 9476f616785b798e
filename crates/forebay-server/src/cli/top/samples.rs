//! Sums over what `/metrics` says.

use std::collections::BTreeMap;

use crate::dashboard::{Scrape, Series};

/// All series at one moment.
#[derive(Debug, Default)]
pub(super) struct Samples(Scrape);

impl Samples {
    pub(super) fn read(text: &str) -> Self {
        Self(Scrape::read(text))
    }

    /// What all series of a name come to together.
    pub(super) fn sum(&self, name: &str) -> f64 {
        self.0.sum(name, |_| true).unwrap_or(0.0)
    }

    /// What the series of a name come to in which a label has this value.
    pub(super) fn sum_where(&self, name: &str, label: &str, value: &str) -> f64 {
        self.0.sum(name, |series: &Series| series.label(label) == value).unwrap_or(0.0)
    }

    /// What they come to by the values of some labels.
    pub(super) fn sums_by<const N: usize>(
        &self,
        name: &str,
        labels: [&str; N],
    ) -> BTreeMap<[String; N], f64> {
        let mut sums = BTreeMap::new();
        for series in self.0.series(name) {
            *sums.entry(labels.map(|label| series.label(label).to_owned())).or_default() += series.value;
        }
        sums
    }

    /// How many measurements each bound of a histogram has below it, all series together, in the order of the bounds.
    pub(super) fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let mut buckets: Vec<(f64, f64)> = Vec::new();
        for series in self.0.series(&format!("{name}_bucket")) {
            let Ok(bound) = series.label("le").parse::<f64>() else { continue };
            match buckets.iter_mut().find(|(known, _)| *known == bound) {
                Some((_, count)) => *count += series.value,
                None => buckets.push((bound, series.value)),
            }
        }
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a{space=\"x\",outcome=\"memory\"} 3\na{space=\"y\",outcome=\"memory\"} 4\n\
                        a{space=\"y\",outcome=\"miss\"} 1\n\
                        h_bucket{le=\"+Inf\"} 3\nh_bucket{le=\"0.1\"} 1\nh_bucket{le=\"0.1\",x=\"1\"} 1\n\
                        h_bucket{le=\"+Inf\",x=\"1\"} 1\n";

    #[test]
    fn series_are_summed_over_the_labels_that_nobody_asks_for() {
        let samples = Samples::read(TEXT);
        assert_eq!((samples.sum("a"), samples.sum("none")), (8.0, 0.0));
        assert_eq!(samples.sum_where("a", "outcome", "memory"), 7.0);
        let by_outcome = samples.sums_by("a", ["outcome"]);
        assert_eq!(
            by_outcome.into_iter().collect::<Vec<_>>(),
            [(["memory".into()], 7.0), (["miss".into()], 1.0)]
        );
        assert_eq!(samples.buckets("h"), [(0.1, 2.0), (f64::INFINITY, 4.0)]);
    }
}

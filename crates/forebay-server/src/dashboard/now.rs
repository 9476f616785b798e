//! What is sent to every page each second.

use std::collections::BTreeMap;

use forebay::status::Status;
use serde::Serialize;

use super::{columns::COLUMNS, history::Row, scrape::Scrape};

/// How many spaces, or tiers of policies, are told apart: those in which most happens.
const MOST: usize = 100;

/// The figures of one moment.
#[derive(Debug, Serialize)]
pub(super) struct Now<'a> {
    /// What the last second has brought.
    row: &'a Row,
    /// The columns of a row, as `/metrics` has them.
    totals: BTreeMap<&'static str, f64>,
    spaces: Vec<Group>,
    limits: Vec<Group>,
    /// How many flights had at most so many callers.
    callers: Vec<Class>,
    store: Store,
}

/// The outcomes of one family, for one combination of the other labels.
#[derive(Debug, PartialEq, Serialize)]
struct Group {
    names: Vec<String>,
    outcomes: BTreeMap<String, f64>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Class {
    at_most: Option<f64>,
    count: f64,
}

/// How the server stands with its store.
#[derive(Debug, Serialize)]
struct Store {
    kind: &'static str,
    usable: bool,
    reason: Option<String>,
    /// Whether what other processes change is heard; on the memory store there are none.
    hears: bool,
}

impl<'a> Now<'a> {
    pub(super) fn of(scrape: &Scrape, row: &'a Row, totals: &[f64], status: &Status) -> Self {
        Self {
            row,
            totals: COLUMNS.iter().map(|column| column.name.as_str()).zip(totals.iter().copied()).collect(),
            spaces: groups(scrape, "forebay_cache_requests_total", &["space"]),
            limits: groups(scrape, "forebay_limiter_decisions_total", &["policy", "tier"]),
            callers: callers(scrape),
            store: Store::of(status),
        }
    }
}

fn groups(scrape: &Scrape, family: &str, names: &[&str]) -> Vec<Group> {
    let mut groups = BTreeMap::<Vec<String>, BTreeMap<String, f64>>::new();
    for series in scrape.series(family) {
        let names = names.iter().map(|name| series.label(name).to_owned()).collect();
        *groups.entry(names).or_default().entry(series.label("outcome").to_owned()).or_default() +=
            series.value;
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(names, outcomes)| Group { names, outcomes }).collect();
    groups.sort_by(|one, other| other.total().total_cmp(&one.total()));
    groups.truncate(MOST);
    groups
}

impl Group {
    fn total(&self) -> f64 {
        self.outcomes.values().sum()
    }
}

/// The classes of the histogram, each without those below it.
fn callers(scrape: &Scrape) -> Vec<Class> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for series in scrape.series("forebay_cache_flight_callers_bucket") {
        let Ok(bound) = series.label("le").parse() else { continue };
        match sums.iter_mut().find(|(known, _)| *known == bound) {
            Some((_, sum)) => *sum += series.value,
            None => sums.push((bound, series.value)),
        }
    }
    sums.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let below = std::iter::once(0.0).chain(sums.iter().map(|(_, sum)| *sum)).collect::<Vec<_>>();
    let classes = sums.iter().zip(below);
    classes
        .map(|(&(bound, sum), below)| Class {
            at_most: Some(bound).filter(|b| b.is_finite()),
            count: sum - below,
        })
        .collect()
}

impl Store {
    fn of(status: &Status) -> Self {
        match status {
            Status::Redis(redis) => {
                Self { kind: "redis", usable: redis.usable, reason: redis.reason.clone(), hears: redis.hears }
            }
            _ => Self { kind: "memory", usable: true, reason: None, hears: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_spaces_apart_the_busiest_first() {
        let scrape = Scrape::read(
            "forebay_cache_requests_total{space=\"a\",outcome=\"memory\"} 3\n\
             forebay_cache_requests_total{space=\"b\",outcome=\"memory\"} 3\n\
             forebay_cache_requests_total{space=\"b\",outcome=\"store\"} 1\n",
        );
        let names: Vec<_> = groups(&scrape, "forebay_cache_requests_total", &["space"])
            .into_iter()
            .map(|group| group.names)
            .collect();
        assert_eq!(names, [["b"], ["a"]]);
    }

    #[test]
    fn counts_each_flight_in_one_class() {
        let scrape = Scrape::read(
            "forebay_cache_flight_callers_bucket{space=\"a\",le=\"1\"} 3\n\
             forebay_cache_flight_callers_bucket{space=\"a\",le=\"10\"} 5\n\
             forebay_cache_flight_callers_bucket{space=\"a\",le=\"+Inf\"} 6\n\
             forebay_cache_flight_callers_bucket{space=\"b\",le=\"1\"} 1\n",
        );
        let counts: Vec<_> = callers(&scrape).into_iter().map(|class| (class.at_most, class.count)).collect();
        assert_eq!(counts, [(Some(1.0), 4.0), (Some(10.0), 1.0), (None, 1.0)]);
    }
}

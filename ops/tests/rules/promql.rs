//! As much of PromQL as the rules need, over series that grow evenly until they turn, and from then on.

use std::collections::BTreeMap;

use promql_parser::{
    label::Matchers,
    parser::{AggregateExpr, BinaryExpr, Call, Expr, LabelModifier, MatrixSelector, VectorSelector},
};

pub(crate) type Labels = BTreeMap<String, String>;
type Vector = Vec<(Labels, f64)>;

/// What a series was at first, and by how much it grows in a minute.
pub(crate) type Course = (f64, f64);

/// One series, which takes another course from a minute on. Of a counter only the growth is another then: rules look at
/// no more than that.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) labels: Labels,
    pub(crate) before: Course,
    pub(crate) turn: f64,
    pub(crate) after: Course,
}

impl Series {
    fn value(&self, minutes: f64) -> f64 {
        let (first, growth) = if minutes < self.turn { self.before } else { self.after };
        first + growth * minutes
    }

    fn growth(&self, from: f64, to: f64) -> f64 {
        let turn = self.turn.clamp(from, to);
        self.before.1 * (turn - from) + self.after.1 * (to - turn)
    }
}

/// All series, some minutes after they have begun.
pub(crate) struct At<'a> {
    pub(crate) series: &'a [Series],
    pub(crate) minutes: f64,
}

impl At<'_> {
    /// What a query answers: series, or one number without labels.
    pub(crate) fn query(&self, query: &Expr) -> Vector {
        match query {
            Expr::NumberLiteral(number) => vec![(Labels::new(), number.val)],
            Expr::Paren(inner) => self.query(&inner.expr),
            Expr::VectorSelector(selector) => self.present(selector),
            Expr::Call(call) => self.call(call),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Binary(binary) => self.binary(binary),
            other => panic!("not known here: {other:?}"),
        }
    }

    fn selected(&self, selector: &VectorSelector) -> impl Iterator<Item = &Series> {
        let name = selector.name.clone().unwrap();
        let matchers: Matchers = selector.matchers.clone();
        let fits = move |labels: &Labels| {
            let value = |label: &str| labels.get(label).map_or("", String::as_str);
            matchers.matchers.iter().all(|matcher| matcher.is_match(value(&matcher.name)))
        };
        self.series.iter().filter(move |series| series.name == name && fits(&series.labels))
    }

    fn present(&self, selector: &VectorSelector) -> Vector {
        let value = |series: &Series| (series.labels.clone(), series.value(self.minutes));
        self.selected(selector).map(value).collect()
    }

    /// By how much series have grown within the range of `selector`, and how long that is in minutes.
    fn growth(&self, selector: &MatrixSelector) -> (Vector, f64) {
        let range = selector.range.as_secs_f64() / 60.0;
        assert!(range <= self.minutes, "{selector} looks back beyond the beginning");
        let from = self.minutes - range;
        let grown = |series: &Series| (series.labels.clone(), series.growth(from, self.minutes));
        (self.selected(&selector.vs).map(grown).collect(), range)
    }

    fn call(&self, call: &Call) -> Vector {
        let args: Vec<&Expr> = call.args.args.iter().map(|arg| &**arg).collect();
        match (call.func.name, &args[..]) {
            ("increase", [Expr::MatrixSelector(selector)]) => self.growth(selector).0,
            ("rate", [Expr::MatrixSelector(selector)]) => {
                let (grown, minutes) = self.growth(selector);
                grown.into_iter().map(|(labels, by)| (labels, by / (minutes * 60.0))).collect()
            }
            ("histogram_quantile", [Expr::NumberLiteral(share), buckets]) => {
                let mut histograms = BTreeMap::<Labels, Vec<(f64, f64)>>::new();
                for (mut labels, count) in self.query(buckets) {
                    let bound = labels.remove("le").unwrap();
                    histograms.entry(labels).or_default().push((bound.parse().unwrap(), count));
                }
                let told = |(labels, buckets)| (labels, quantile(share.val, buckets));
                histograms.into_iter().map(told).collect()
            }
            (name, _) => panic!("not known here: {name}"),
        }
    }

    fn aggregate(&self, aggregate: &AggregateExpr) -> Vector {
        let by = match &aggregate.modifier {
            Some(LabelModifier::Include(labels)) => labels.labels.clone(),
            None => Vec::new(),
            Some(other) => panic!("not known here: {other:?}"),
        };
        let combine = match aggregate.op.to_string().as_str() {
            "sum" => |a: f64, b: f64| a + b,
            "max" => f64::max,
            "min" => f64::min,
            other => panic!("not known here: {other}"),
        };
        let mut groups = BTreeMap::<Labels, f64>::new();
        for (mut labels, value) in self.query(&aggregate.expr) {
            labels.retain(|label, _| by.contains(label));
            groups.entry(labels).and_modify(|all| *all = combine(*all, value)).or_insert(value);
        }
        groups.into_iter().collect()
    }

    /// Series stand beside those with the same labels, and beside every number.
    fn binary(&self, binary: &BinaryExpr) -> Vector {
        let (left, right) = (self.query(&binary.lhs), self.query(&binary.rhs));
        let is_number = |side: &Expr| matches!(side, Expr::NumberLiteral(_));
        let (number_first, any) = (is_number(&binary.lhs), is_number(&binary.lhs) || is_number(&binary.rhs));
        let pairs = left.iter().flat_map(|(labels, a)| {
            let same = right.iter().filter(move |(others, _)| any || labels == others);
            same.map(move |(others, b)| (if number_first { others } else { labels }, *a, *b))
        });
        let combined = |(labels, a, b): (&Labels, f64, f64)| {
            let value = match binary.op.to_string().as_str() {
                "*" => Some(a * b),
                ">" => (a > b).then_some(a),
                "==" => (a.to_bits() == b.to_bits()).then_some(a),
                "and" => Some(a),
                other => panic!("not known here: {other}"),
            };
            value.map(|value| (labels.clone(), value))
        };
        pairs.filter_map(combined).collect()
    }
}

/// As Prometheus has it: evenly spread within each bucket.
fn quantile(share: f64, mut buckets: Vec<(f64, f64)>) -> f64 {
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rank = share * buckets.last().unwrap().1;
    let mut below = (0.0, 0.0);
    for (bound, count) in buckets {
        if count >= rank && bound.is_infinite() {
            return below.0;
        }
        if count >= rank {
            return below.0 + (bound - below.0) * (rank - below.1) / (count - below.1);
        }
        below = (bound, count);
    }
    f64::NAN
}

#[test]
fn a_quantile_is_spread_over_its_bucket() {
    let buckets = vec![(f64::INFINITY, 12.0), (1.0, 4.0), (2.0, 10.0)];
    assert!((quantile(0.5, buckets.clone()) - (1.0 + 2.0 / 6.0)).abs() < 1e-9);
    assert!((quantile(0.99, buckets) - 2.0).abs() < 1e-9);
}

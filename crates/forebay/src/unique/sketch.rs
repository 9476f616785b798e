//! The HyperLogLog of one day in this process: as large and as exact as that of Redis.

use std::hash::DefaultHasher;

use cardinality_estimator::CardinalityEstimator;

use super::visitor::Visitor;

/// 16,384 registers of 6 bits. Visitors are hashes already, so that its own hasher has no part in it.
#[derive(Debug, Default)]
pub(super) struct Sketch(CardinalityEstimator<[u8], DefaultHasher, 14, 6>);

impl Sketch {
    pub(super) fn add(&mut self, visitor: Visitor) {
        self.0.insert_hash(visitor.bits());
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    pub(super) fn estimate(&self) -> u64 {
        self.0.estimate() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(visitors: impl Iterator<Item = usize>) -> Sketch {
        let mut sketch = Sketch::default();
        visitors.for_each(|n| sketch.add(Visitor::of(&n.to_string())));
        sketch
    }

    fn error(estimate: u64, truth: usize) -> f64 {
        (estimate as f64 / truth as f64 - 1.0).abs()
    }

    #[test]
    fn few_are_counted_exactly_and_many_within_two_percent() {
        let mut sketch = Sketch::default();
        let mut count = 0;
        for (upto, bound) in [(1, 0.0), (100, 0.0), (1000, 0.02), (100_000, 0.02), (1_000_000, 0.02)] {
            (count..upto).for_each(|n| sketch.add(Visitor::of(&n.to_string())));
            count = upto;
            assert!(error(sketch.estimate(), upto) <= bound, "{} of {upto}", sketch.estimate());
        }
        assert!(sketch.0.size_of() <= 14_500, "{}", sketch.0.size_of());
    }

    #[test]
    fn joined_they_count_each_visitor_once_whatever_their_sizes() {
        for (one, other) in [
            (0..2, 1..3),
            (0..2, 1..50_000),
            (0..50_000, 1..3),
            (0..100, 50..9000),
            (0..60_000, 30_000..90_000),
        ] {
            let truth = one.end.max(other.end);
            let mut union = Sketch::default();
            union.join(&sketch(one));
            union.join(&sketch(other));
            let bound = if truth <= 100 { 0.0 } else { 0.03 };
            assert!(error(union.estimate(), truth) <= bound, "{} of {truth}", union.estimate());
        }
    }
}

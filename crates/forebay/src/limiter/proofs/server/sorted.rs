//! A sorted set with integer scores.

use std::{
    collections::{BTreeSet, HashMap},
    ops::{Bound, RangeBounds},
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Sorted {
    order: BTreeSet<(i64, Vec<u8>)>,
    scores: HashMap<Vec<u8>, i64>,
}

/// Scores from one end to the other, both within.
#[derive(Clone, Copy)]
pub(super) struct Span(i64, i64);

impl Span {
    /// Reads the ends as Redis spells them: `5`, `(5`, `-inf`, `+inf`.
    pub(super) fn read(from: &[u8], to: &[u8]) -> Option<Self> {
        Some(Self(end(from, 1)?, end(to, -1)?))
    }

    fn range(self) -> impl RangeBounds<(i64, Vec<u8>)> {
        let above =
            self.1.checked_add(1).map_or(Bound::Unbounded, |next| Bound::Excluded((next, Vec::new())));
        (Bound::Included((self.0, Vec::new())), above)
    }

    fn is_empty(self) -> bool {
        self.0 > self.1
    }
}

fn end(text: &[u8], inward: i64) -> Option<i64> {
    match text {
        b"-inf" => Some(i64::MIN),
        b"+inf" | b"inf" => Some(i64::MAX),
        [b'(', open @ ..] => Some(integer(open)? + inward),
        closed => integer(closed),
    }
}

/// An integer as a script must spell it: digits only, since `1e+15` has lost some.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

impl Sorted {
    /// Whether the member is new.
    pub(in super::super) fn add(&mut self, score: i64, member: &[u8]) -> bool {
        let old = self.scores.insert(member.to_vec(), score);
        if let Some(old) = old {
            self.order.remove(&(old, member.to_vec()));
        }
        self.order.insert((score, member.to_vec()));
        old.is_none()
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(score) = self.scores.remove(member) else { return false };
        self.order.remove(&(score, member.to_vec()))
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<i64> {
        self.scores.get(member).copied()
    }

    pub(in super::super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The members of a span from the lowest score on.
    pub(super) fn within(&self, span: Span) -> impl Iterator<Item = &(i64, Vec<u8>)> {
        (!span.is_empty()).then(|| self.order.range(span.range())).into_iter().flatten()
    }

    pub(in super::super) fn downwards(&self) -> impl Iterator<Item = &(i64, Vec<u8>)> {
        self.order.iter().rev()
    }
}

//! What a counter asks of its store.

use std::fmt;

use futures::future::BoxFuture;
use jiff::civil::Date;

use super::{calendar, count::Figures, visitor::Visitor};
use crate::redis::Unusable;

/// An answer of a store, or that it cannot be asked.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// Which days are to be counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked {
    On(Date),
    /// So many, of which today is the last.
    Last(u32),
}

impl Asked {
    /// The first of the days, and the last.
    pub(super) fn span(self, today: Date) -> [Date; 2] {
        match self {
            Self::On(date) => [date, date],
            Self::Last(days) => [calendar::before(today, days.saturating_sub(1)), today],
        }
    }
}

/// How many came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) visitors: u64,
    pub(crate) span: [Date; 2],
    pub(crate) today: Date,
}

/// The visitors of one counter.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Counts a visitor of this moment, at once or later.
    fn record(&self, visitor: Visitor);

    /// Has everybody counted who was recorded before.
    fn flush(&self) -> Answer<'_, ()>;

    /// Counts the visitors of some days, each once. Who was recorded before is among them.
    fn count(&self, asked: Asked) -> Answer<'_, Counted>;

    fn figures(&self) -> Figures;

    /// Drops those that wait, and from now on those that come: how many waited.
    fn close(&self) -> usize;
}

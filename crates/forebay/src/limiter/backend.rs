//! What a limiter asks of its store: whole atomic steps.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{policy::Tier, quota::Usage, state::Receipt};
use crate::{clock::Moment, redis::Unusable};

/// An answer of a store, or that it cannot be asked.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// What is asked about one subject.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) tier: &'a Arc<Tier>,
    pub(crate) cost: u64,
    /// Whether the cost is taken if it fits.
    pub(crate) take: bool,
    /// Until when the store may be asked; a budget of its own without.
    pub(crate) until: Option<Moment>,
}

/// What a store says.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) fits: bool,
    /// Until it does, if nothing is taken meanwhile.
    pub(crate) wait: Duration,
    /// After the taking, for each window of the tier.
    pub(crate) usage: Box<[Usage]>,
    pub(crate) hold: Hold,
    /// The tier by whose windows this was decided, where it is not the one that was asked.
    pub(crate) applied: Option<Arc<Tier>>,
    /// Whether what lay there could not be read, and so counted as nothing.
    pub(crate) unreadable: bool,
}

impl Verdict {
    /// Admits what nobody has counted.
    pub(super) fn unlimited(tier: &Arc<Tier>) -> Self {
        let unused = vec![Usage::default(); tier.windows.len()].into();
        let applied = Some(tier.clone());
        Self {
            fits: true,
            wait: Duration::ZERO,
            usage: unused,
            hold: Hold::Nowhere,
            applied,
            unreadable: false,
        }
    }
}

/// Where what was taken is to be found again.
#[derive(Debug, Clone)]
pub(crate) enum Hold {
    /// Nothing was taken, or nobody knows.
    Nowhere,
    /// In this process.
    Here(Receipt),
    /// In Redis, in the words of the script that took it.
    Redis(Bytes),
}

/// What became of a cost that was reserved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settlement<'a> {
    pub(crate) tier: &'a Arc<Tier>,
    pub(crate) hold: &'a Hold,
    pub(crate) reserved: u64,
    pub(crate) actual: u64,
}

/// The counts of one policy. A subject is in its encoded form.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// The end of a budget that begins now, where answers can be late.
    fn budget(&self) -> Option<Moment>;

    /// Decides about a cost, and takes it.
    fn check<'a>(&'a self, subject: &'a str, ask: Ask<'a>) -> Answer<'a, Verdict>;

    /// Corrects what was taken, where it still counts.
    fn settle<'a>(&'a self, subject: &'a str, settlement: Settlement<'a>) -> Answer<'a, ()>;

    /// Gives a subject its whole quota back.
    fn reset<'a>(&'a self, subject: &'a str) -> Answer<'a, ()>;
}

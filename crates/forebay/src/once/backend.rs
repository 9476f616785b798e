//! What claims and executions ask of their store: whole atomic steps.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;

use super::record::Record;
use crate::{redis::Unusable, token::Token};

/// An answer of a store, or that it cannot be asked.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// Who knows the token of a request that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nobody: what was granted under it is taken back.
    ToNobody,
    /// The caller, who may ask again and then has what was granted.
    ToCaller,
}

/// What a claim or an execution is begun under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Under {
    pub(crate) token: Token,
    pub(crate) known: Known,
}

/// How it stands with a name that somebody claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bid {
    /// It is the caller's, for so long.
    Claimed(Duration),
    /// It is somebody else's, for so long.
    Taken(Duration),
    /// Something stands under this key that does not end.
    Foreign(String),
}

/// What a request is recognised by: 128 bits of BLAKE3 over its fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Print(u128);

impl Print {
    pub(crate) fn of(fingerprint: &[u8]) -> Self {
        let hash = blake3::hash(fingerprint);
        let (half, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        Self(u128::from_be_bytes(*half))
    }
}

impl fmt::Display for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// How something is begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    pub(crate) under: Under,
    pub(crate) print: Print,
    pub(crate) lease: Duration,
    pub(crate) keep: Duration,
    /// Whether what nobody knows the end of is run again.
    pub(crate) again: bool,
}

/// How it stands with what is to run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The caller runs, with a lease of this life.
    Run(Duration),
    /// Somebody runs, whose lease has this life left.
    Running(Duration),
    Done(Record),
    Mismatch,
    Indeterminate,
    /// Something is there that cannot be read.
    Unreadable,
}

/// What the caller that runs does next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// For so long; `keep` is the life of the record where the store does not know it.
    Renew {
        lease: Duration,
        keep: Duration,
    },
    GiveUp,
}

/// How what runs is ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Complete<'a> {
    pub(crate) record: &'a Record,
    /// The life of the record where the store does not know it.
    pub(crate) life: Duration,
    /// Where the store has lost it, the record is made anew for this.
    pub(crate) print: Option<Print>,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is kept, now or since before.
    Stored,
    /// The caller has brought another one before, which stays.
    Another,
    /// Somebody else has run, or nobody knows.
    Lost,
}

/// Claims and executions of one application. A name is in its encoded form.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Claims a name, or says how it stands.
    fn claim<'a>(&'a self, name: &'a str, under: Under, life: Duration) -> Answer<'a, Bid>;

    /// Frees a name, and says whether it was claimed under this token.
    fn unclaim<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool>;

    /// Lets the caller run, or says how it stands.
    fn begin<'a>(&'a self, name: &'a str, begin: Begin) -> Answer<'a, Found>;

    /// Does the step of the caller that runs, and says which life its lease then has; nothing if it does not run.
    fn step<'a>(&'a self, name: &'a str, token: Token, step: Step) -> Answer<'a, Option<Duration>>;

    /// Keeps what the caller that ran has brought.
    fn complete<'a>(&'a self, name: &'a str, token: Token, complete: Complete<'a>) -> Answer<'a, Kept>;
}

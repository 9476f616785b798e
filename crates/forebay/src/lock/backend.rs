//! What locks ask of their store: whole atomic steps.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;

use super::options::Replicas;
use crate::{redis::Unusable, token::Token};

/// An answer of a store, or that it cannot be asked.
pub(super) type Answer<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub(super) token: Token,
    pub(super) life: Duration,
    /// Whether the caller will wait for a wake.
    pub(super) waits: bool,
    pub(super) replicas: Option<Replicas>,
    /// Whether the caller can ask again under the token, and then has what was granted.
    pub(super) again: bool,
}

/// What a store says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Granted {
        fence: u64,
    },
    /// Somebody else holds the lock, for so long at least.
    Busy(Duration),
    /// Something stands in its place that does not end.
    Foreign,
    /// Only so many replicas have confirmed it: the lock was given back.
    Unconfirmed(u32),
}

/// What was there when a lock was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freed {
    /// A lock that somebody held.
    Held,
    Nothing,
    /// Something that is no lock, and stays.
    Foreign,
}

/// The locks of one `Forebay`. A name is in its encoded form.
pub(super) trait Backend: fmt::Debug + Send + Sync {
    /// Takes the lock. Whoever stops waiting for the answer, or gets none, does not hold it for long, unless it can ask
    /// again.
    fn acquire<'a>(&'a self, name: &'a str, ask: Ask) -> Answer<'a, Verdict>;

    /// Holds the lock for `life` from now on; `false` where it is not the caller's.
    fn renew<'a>(&'a self, name: &'a str, token: Token, life: Duration) -> Answer<'a, bool>;

    /// Frees the lock; `false` where it is not the caller's. Where there is no answer, it is freed once there can be.
    fn release<'a>(&'a self, name: &'a str, token: Token) -> Answer<'a, bool>;

    /// Frees the lock, whoever holds it.
    fn force_release<'a>(&'a self, name: &'a str) -> Answer<'a, Freed>;

    /// How wakes name a lock.
    fn wake_name(&self, name: &str) -> String;
}

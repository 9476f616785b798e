//! What topics ask of their store: whole atomic steps.

use std::{fmt, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{Id, Retention};
use crate::{key::Name, redis::Unusable};

/// An answer of a store, or that it cannot be asked.
pub(super) type Answer<'a, T> = BoxFuture<'a, Result<T, Unusable>>;

/// Where to read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// Behind this place.
    After(Id),
    /// Behind all there is.
    End,
}

/// A message as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) id: Id,
    /// Nothing, where it was not written by a topic.
    pub(super) payload: Option<Bytes>,
}

/// Some messages that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) messages: Vec<Kept>,
    /// The place of the latest message there is; nothing where the topic has none and is not used.
    pub(super) last: Option<Id>,
    /// How long the topic is kept if nothing is published any more.
    pub(super) left: Duration,
}

impl Page {
    /// Whether nothing lies behind it.
    pub(super) fn is_last(&self) -> bool {
        self.messages.last().is_none_or(|message| Some(message.id) >= self.last)
    }
}

/// The messages of the topics of one `Forebay`.
pub(super) trait Backend: fmt::Debug + Send + Sync {
    /// Tells everybody who listens, and nobody else.
    fn publish<'a>(&'a self, topic: &'a Name, payload: Bytes) -> Answer<'a, ()>;

    /// Keeps a message, and wakes who waits for it.
    fn append<'a>(&'a self, topic: &'a Name, payload: Bytes, retention: Retention) -> Answer<'a, Id>;

    /// Reads some messages.
    fn read<'a>(&'a self, topic: &'a Name, from: From) -> Answer<'a, Page>;
}

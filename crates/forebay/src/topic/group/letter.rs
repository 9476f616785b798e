//! What consumers are given.

use bytes::Bytes;

use super::Id;

/// A message, as it is delivered to a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Letter {
    /// The place of the message in its topic.
    pub id: Id,
    /// What was published.
    pub payload: Bytes,
    /// How often it was delivered, this time included.
    pub attempts: u32,
}

impl Letter {
    pub(super) fn new(id: Id, payload: Bytes, attempts: u32) -> Self {
        Self { id, payload, attempts }
    }

    /// The payload as text, if it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        str::from_utf8(&self.payload).ok()
    }
}

/// A message that was delivered in vain too often, and is kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Its place among the dead letters of its group.
    pub id: Id,
    /// The message.
    pub letter: Letter,
    /// What the last consumer said, or that there was none who did.
    pub reason: String,
}

impl DeadLetter {
    pub(super) fn new(id: Id, letter: Letter, reason: String) -> Self {
        Self { id, letter, reason }
    }
}

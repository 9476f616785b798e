//! What subscribers are given.

use bytes::Bytes;

use super::Id;

/// A message of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Its place, where the topic is durable.
    pub id: Option<Id>,
    /// What was published.
    pub payload: Bytes,
}

impl Message {
    pub(super) fn new(id: Option<Id>, payload: Bytes) -> Self {
        Self { id, payload }
    }

    /// The payload as text, if it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        str::from_utf8(&self.payload).ok()
    }
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Heard {
    /// A message, in the order of the topic.
    Message(Message),
    /// There may have been messages that this subscriber is not given.
    Deaf(Deaf),
}

/// Why a subscriber may have missed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deaf {
    /// The store cannot be heard. What is published from now on is missed, until [`Deaf::Over`]. Of a durable topic
    /// nothing is, unless the subscriber was to begin with what comes now: that is when this is over.
    Begins,
    /// It is heard again: now is the time to look up elsewhere what may have changed meanwhile.
    Over,
    /// So many messages were missed, where the number is known: this subscriber was too slow, or they were no longer
    /// kept when it came to them.
    Missed(Option<u64>),
}

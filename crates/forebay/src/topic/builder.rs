//! Building a topic.

use std::time::Duration;

use super::{Durable, Topic, home::Home};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// The fewest and the most messages that a topic keeps.
const MESSAGES: (u64, u64) = (1, 10_000_000);

/// The shortest time for which it keeps them: more than subscribers need to come to them.
const SHORTEST: Duration = Duration::from_secs(10);

const LONGEST: Duration = Duration::from_secs(3650 * 24 * 3600);

/// For how long, and how many of its messages a durable topic keeps. All processes give the same. In memory they are not
/// part of any budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How many are kept: the latest, and over Redis up to some hundreds more. 1 to 10,000,000.
    pub max_len: u64,
    /// For how long each is kept, unless more than `max_len` come after it; over Redis some are for longer, until the
    /// topic was silent for as long. 10 s to 3,650 days.
    pub keep_for: Duration,
}

impl Retention {
    fn check(&self) -> Result<(), Error> {
        let Self { max_len, keep_for } = self;
        let refuse = |why: String| Err(Error::new(ErrorKind::Config, why));
        if !(MESSAGES.0..=MESSAGES.1).contains(max_len) {
            return refuse(format!("max_len is {max_len}; keep {} to {} messages", MESSAGES.0, MESSAGES.1));
        }
        if !(SHORTEST..=LONGEST).contains(keep_for) {
            return refuse(format!("keep_for is {keep_for:?}; keep messages for 10 s to 3,650 days"));
        }
        Ok(())
    }
}

/// Builds a [`Topic`], or a [`Durable`] one.
#[derive(Debug)]
#[must_use = "a builder does nothing until build() or durable()"]
pub struct Builder {
    home: Home,
    topic: String,
}

impl Builder {
    pub(crate) fn new(home: Home, topic: &str) -> Self {
        Self { home, topic: topic.into() }
    }

    /// Builds the topic. It may be built as often as wanted.
    ///
    /// # Errors
    ///
    /// A name that cannot be part of a key.
    pub fn build(self) -> Result<Topic, Error> {
        Ok(Topic::new(self.home, Name::new(self.topic)?))
    }

    /// Builds a topic that keeps its messages for those who come later. All processes must build it as a durable one.
    ///
    /// # Errors
    ///
    /// A name that cannot be part of a key, or a retention out of its bounds.
    pub fn durable(self, retention: Retention) -> Result<Durable, Error> {
        retention.check()?;
        Ok(Durable::new(self.home, Name::new(self.topic)?, retention))
    }
}

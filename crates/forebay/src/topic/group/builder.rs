//! Building a group: every option has a setter and a default.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use super::{Group, durable};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

const VISIBILITY: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(12 * 3600);

const DELIVERIES: RangeInclusive<u32> = 1..=1000;

/// Where a group begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// With everything that is kept.
    Kept,
    Now,
}

/// What a group is built with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) visibility: Duration,
    pub(super) max_deliveries: u32,
    pub(super) backoff: Duration,
    pub(super) begins: Begins,
}

/// Builds a [`Group`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    topic: Arc<durable::Inner>,
    name: String,
    options: Options,
}

impl Builder {
    pub(in crate::topic) fn new(topic: Arc<durable::Inner>, name: &str) -> Self {
        let options = Options {
            // Longer than most work, and short enough to wait for after a crash.
            visibility: Duration::from_secs(30),
            // What has failed five times will do so again.
            max_deliveries: 5,
            backoff: Duration::from_secs(1),
            // Nothing is passed over that was published before the first consumer came.
            begins: Begins::Kept,
        };
        Self { topic, name: name.into(), options }
    }

    /// Sets how long a consumer has for a message before another is given it. 1 s to 12 h. Default: 30 s.
    pub fn visibility(mut self, visibility: Duration) -> Self {
        self.options.visibility = visibility;
        self
    }

    /// Sets how often a message is delivered before it is put aside. 1 to 1,000. Default: 5.
    pub fn max_deliveries(mut self, deliveries: u32) -> Self {
        self.options.max_deliveries = deliveries;
        self
    }

    /// Sets how long a message waits after it has failed for the first time; twice as long after each further time, at
    /// most the visibility. Default: 1 s.
    pub fn backoff(mut self, backoff: Duration) -> Self {
        self.options.backoff = backoff;
        self
    }

    /// Begins the group with what is published from its first consumer's first look on. Default: with everything that
    /// is kept. A group that exists goes on where it is.
    pub fn from_now(mut self) -> Self {
        self.options.begins = Begins::Now;
        self
    }

    /// Builds the group. It may be built as often as wanted; all processes give the same options.
    ///
    /// # Errors
    ///
    /// A name that cannot be part of a key, or an option out of its bounds.
    pub fn build(self) -> Result<Group, Error> {
        let Options { visibility, max_deliveries, .. } = self.options;
        let refuse = |why: String| Err(Error::new(ErrorKind::Config, why));
        if !VISIBILITY.contains(&visibility) {
            return refuse(format!("visibility is {visibility:?}; give a consumer 1 s to 12 h"));
        }
        if !DELIVERIES.contains(&max_deliveries) {
            return refuse(format!("max_deliveries is {max_deliveries}; deliver 1 to 1,000 times"));
        }
        Ok(Group::new(self.topic, Name::new(self.name)?, self.options))
    }
}

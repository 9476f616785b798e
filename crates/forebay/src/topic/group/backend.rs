//! What groups ask of their store: whole atomic steps.

use std::{fmt, sync::Arc, time::Duration};

use super::{DeadLetter, Letter, builder::Options};
use crate::{
    key::Name,
    topic::{Id, Retention, backend::Answer},
};

/// Who consumes.
#[derive(Debug, Clone)]
pub(in crate::topic) struct Seat {
    pub(super) topic: Name,
    pub(super) group: Name,
    /// In its encoded form.
    pub(super) consumer: Arc<str>,
    pub(super) options: Options,
    pub(super) retention: Retention,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::topic) struct Look {
    pub(super) most: usize,
    /// Whether this consumer has never found the group.
    pub(super) is_first: bool,
    /// Behind which place to look for what this consumer was given before it was started; nothing once there is no more.
    pub(super) own: Option<Id>,
    /// Whether those count as delivered once more: not where they were given out and did not arrive.
    pub(super) counts: bool,
    /// From which place on to look for what others have left.
    pub(super) claim: Id,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::topic) struct Fetched {
    pub(super) letters: Vec<Letter>,
    /// Where to look on.
    pub(super) own: Option<Id>,
    /// The same; the beginning once all was looked at.
    pub(super) claim: Id,
    /// How many were no longer kept.
    pub(super) lost: u64,
    /// How many were put aside.
    pub(super) dead: u64,
}

/// What a consumer says of a delivery.
#[derive(Debug, Clone, Copy)]
pub(in crate::topic) enum Verdict<'a> {
    Done,
    /// It is to be delivered again after a while, or put aside.
    Failed {
        pause: Duration,
        reason: &'a str,
    },
    /// It needs more time.
    Renewed,
    /// It was not looked at.
    Unseen,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::topic) enum Settled {
    Yes,
    /// It was put aside.
    Dead,
    /// It is no longer this consumer's.
    Gone,
    /// It is no longer kept.
    Lost,
}

/// What a consumer that goes away leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::topic) struct Left {
    /// Whether there is more to hand over.
    pub(super) more: bool,
    pub(super) lost: u64,
}

/// The groups of one `Forebay`.
pub(in crate::topic) trait Backend: fmt::Debug + Send + Sync {
    /// Delivers some messages: those that this consumer had, then those that others have left, then new ones.
    fn fetch<'a>(&'a self, seat: &'a Seat, look: Look) -> Answer<'a, Fetched>;

    /// Settles one delivery of a message. An end that is not answered is told again, for as long as a takeback tries.
    fn settle<'a>(&'a self, seat: &'a Seat, letter: &'a Letter, verdict: Verdict<'a>) -> Answer<'a, Settled>;

    /// Hands over some of what this consumer has, and removes it once that is all.
    fn leave<'a>(&'a self, seat: &'a Seat) -> Answer<'a, Left>;

    /// Reads some dead letters behind a place.
    fn dead<'a>(&'a self, topic: &'a Name, group: &'a Name, after: Id) -> Answer<'a, Vec<DeadLetter>>;
}

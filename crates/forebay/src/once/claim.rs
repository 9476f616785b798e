//! Claims: a name that one caller takes for a time.

use std::time::Duration;

use crate::{
    error::{Error, ErrorKind},
    token::Token,
};

/// The store keeps time in ms.
const LEAST: Duration = Duration::from_millis(1);

/// Far beyond what a cooldown or a challenge is for, and far below what a server can count to.
pub(super) const MOST: Duration = Duration::from_hours(24 * 3650);

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "whoever has not claimed the name must not go on"]
pub enum Claim {
    /// The name is the caller's.
    Claimed {
        /// What frees it before its time.
        token: Token,
        /// For how long: less than was asked for where it was claimed under this token before.
        left: Duration,
    },
    /// Somebody else was first.
    Taken {
        /// Until the claim ends, if it is not given up earlier. At least 1 ms.
        retry_after: Duration,
    },
}

impl Claim {
    /// Whether the caller may go on.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        matches!(self, Self::Claimed { .. })
    }
}

/// Refuses a life that a claim cannot have.
pub(super) fn check(ttl: Duration) -> Result<(), Error> {
    if (LEAST..=MOST).contains(&ttl) {
        return Ok(());
    }
    let why = format!("a claim for {ttl:?} cannot be made: 1 ms is the least and 3,650 days are the most");
    Err(Error::new(ErrorKind::Config, why))
}

//! Whether somebody may go on.

use std::time::Duration;

use super::quota::Quota;

/// What a limiter says to a call.
#[derive(Debug, Clone)]
#[must_use = "a call that is denied is not to go on"]
pub enum Decision {
    /// Go on: the cost is taken out of every window of the tier.
    Allowed(Quota),
    /// Come back in `retry_after`, which is never zero: nothing was taken. A window whose limit is 0 denies every
    /// cost for its length, again and again.
    Denied {
        /// What is left.
        quota: Quota,
        /// When the same call would be admitted, if nothing is taken meanwhile.
        retry_after: Duration,
    },
    /// The cost is above a limit of the tier, and so would never be admitted: nothing was taken.
    NeverFits {
        /// The smallest limit of the tier.
        limit: u64,
    },
    /// The store cannot be asked, and the policy is [`Closed`](super::OnOutage::Closed).
    Unavailable {
        /// When to ask again.
        retry_after: Duration,
    },
}

impl Decision {
    /// Whether the call may go on.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }

    /// What is left, where that is known.
    #[must_use]
    pub fn quota(&self) -> Option<&Quota> {
        match self {
            Self::Allowed(quota) | Self::Denied { quota, .. } => Some(quota),
            Self::NeverFits { .. } | Self::Unavailable { .. } => None,
        }
    }
}

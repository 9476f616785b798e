//! Who a caller has proved to be, as the application's own look-up tells.

use std::sync::Arc;

use crate::subject::Subject;

/// Says whom a request's credentials belong to, and in which tier they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub(super) subject: Subject,
    pub(super) tier: Option<Arc<str>>,
}

impl Identity {
    /// Names the user or API key that the credentials belong to.
    #[must_use]
    pub fn new(subject: Subject) -> Self {
        Self { subject, tier: None }
    }

    /// Sets the tier that the record of the user or key has. Default: the layer's
    /// [`identified_tier`](super::CallerLayer::identified_tier).
    #[must_use]
    pub fn tier(self, tier: impl Into<Arc<str>>) -> Self {
        Self { tier: Some(tier.into()), ..self }
    }
}

impl From<Subject> for Identity {
    fn from(subject: Subject) -> Self {
        Self::new(subject)
    }
}

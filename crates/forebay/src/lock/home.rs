//! Where they are built: what all of one `Forebay` share.

use crate::context::{Context, Remote};

/// What all of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "nothing is built yet")]
pub(crate) struct Home {
    context: Context,
    remote: Option<Remote>,
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        Self { context, remote: None }
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        Self { remote: Some(remote), ..Self::memory(context) }
    }
}

//! What changes seldom, or is long: sent to a page when it has changed.

use serde::Serialize;
use serde_json::Value;

use super::{notes::Note, visitors};

/// Everything that is a list.
#[derive(Debug, Serialize)]
pub(super) struct Lists<'a> {
    pub(super) notes: Vec<&'a Note>,
    pub(super) visitors: &'a [visitors::Counter],
    /// `null` until it was asked for.
    pub(super) monitored: &'a Value,
}

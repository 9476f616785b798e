//! The machine's clock, by which verbs measure and wait.

use std::time::Instant;

/// This moment. What is measured by it is shown to people, and decides nothing about what is stored.
#[expect(clippy::disallowed_methods, reason = "who looks at a terminal lives by the machine's clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

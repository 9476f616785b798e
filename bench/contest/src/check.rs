//! What the row on limiters asks: checks of many subjects, none of which is refused.

use std::time::Duration;

use futures::future::BoxFuture;

/// How many subjects are checked.
const SUBJECTS: usize = 10_000;

const MINUTE: Window = Window { limit: 1_000_000, span: Duration::from_secs(60) };
const HOUR: Window = Window { limit: 100_000_000, span: Duration::from_secs(3600) };

/// So many checks of a subject within a span.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The number of checks.
    pub limit: u64,
    /// The span.
    pub span: Duration,
}

/// The windows of a subject, so wide that no run fills them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// A minute.
    One,
    /// A minute and an hour.
    Two,
}

impl Windows {
    /// Each window, the shorter one first.
    pub fn each(self) -> &'static [Window] {
        match self {
            Self::One => &[MINUTE],
            Self::Two => &[MINUTE, HOUR],
        }
    }
}

/// The subjects, like `u-001234`.
pub fn subjects() -> Vec<String> {
    (0..SUBJECTS).map(|number| format!("u-{number:06}")).collect()
}

/// Limits how often a subject may do something.
pub trait Check: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// One caller's check of `subject`. Whether it is admitted.
    fn check(&self, subject: String) -> BoxFuture<'static, bool>;
}

//! What the rows ask whose contestants do one thing again and again.

use std::time::Duration;

use futures::future::BoxFuture;

/// How long what is claimed or kept lives: so short that a run does not fill the server.
pub const BRIEF: Duration = Duration::from_secs(5);

/// Does one thing again and again.
pub trait Step: Send + Sync {
    /// The name in the tables.
    fn name(&self) -> &'static str;

    /// Does it once more; no two have the same `number`. Whether it went as it should.
    fn step(&self, number: usize) -> BoxFuture<'static, bool>;
}

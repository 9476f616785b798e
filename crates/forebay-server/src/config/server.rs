//! The table `[server]`: how long requests and the shutdown may take.

use std::time::Duration;

use serde::Deserialize;

use super::{Cache, WAIT, period::Period};

/// How much longer than its wait a request may take, so that the outcome still reaches the client.
const AFTER_WAIT: Duration = Duration::from_secs(5);

/// Settings of the server as a process. File only.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [server]")]
pub(crate) struct Server {
    /// How long a shutdown may take in all. Default: 10 s, less than what orchestrators grant.
    shutdown_budget: Period,
    /// How long a request may take, its body included. Default: the longest wait of a space and 5 s.
    request_deadline: Option<Period>,
}

impl Default for Server {
    fn default() -> Self {
        Self { shutdown_budget: Period(Duration::from_secs(10)), request_deadline: None }
    }
}

impl Server {
    pub(crate) fn shutdown_budget(&self) -> Duration {
        self.shutdown_budget.0
    }

    pub(super) fn request_deadline(&self, cache: &Cache) -> Duration {
        match self.request_deadline {
            Some(deadline) => deadline.0,
            None => WAIT.max(cache.longest_wait().map_or(WAIT, |(_, wait)| wait)).saturating_add(AFTER_WAIT),
        }
    }

    pub(super) fn check(&self, cache: &Cache) -> Result<(), String> {
        let Some(Period(deadline)) = self.request_deadline else { return Ok(()) };
        if deadline.is_zero() {
            return Err("`server.request_deadline` is zero; every request would fail".to_owned());
        }
        match cache.longest_wait() {
            Some((space, wait)) if wait >= deadline => Err(format!(
                "`server.request_deadline` is {deadline:?}, but callers of `cache.spaces.\"{space}\"` may wait \
                 {wait:?}; raise it, or lower the `wait` of the space"
            )),
            _ => Ok(()),
        }
    }
}

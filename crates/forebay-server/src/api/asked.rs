//! What a client asks of a lease, within the bounds of its space.

use std::time::Duration;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    error::{Kind, Problem},
    spaces::Space,
};

/// The body of `POST …/lease`. What is left out is the space's own `wait` and `lease`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LeaseAsked, example = json!({ "wait_ms": 0 }))]
pub(super) struct Asked {
    #[schema(maximum = 3600000)]
    pub(super) wait_ms: Option<u64>,
    #[schema(minimum = 1, maximum = 86400000)]
    pub(super) lease_ms: Option<u64>,
}

/// The body of `PATCH …/lease`. What is left out is the space's own `lease`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LeaseRenewal, example = json!({ "lease_ms": 10000 }))]
pub(super) struct AskedAgain {
    #[schema(minimum = 1, maximum = 86400000)]
    pub(super) lease_ms: Option<u64>,
}

impl Asked {
    /// How long the client waits for somebody else's load.
    pub(super) fn wait(&self, space: &Space) -> Result<Duration, Problem> {
        let most = space.cache.options().wait;
        let wait = self.wait_ms.map_or(most, Duration::from_millis);
        if wait > most {
            let bounds = format!("at most {}, the `wait` of the space", most.as_millis());
            return Err(out_of_bounds("wait_ms", &bounds));
        }
        Ok(wait)
    }

    /// How long the client holds the lease.
    pub(super) fn life(&self, space: &Space) -> Result<Duration, Problem> {
        life(self.lease_ms, space)
    }
}

impl AskedAgain {
    /// How long the client holds the lease from now on.
    pub(super) fn life(&self, space: &Space) -> Result<Duration, Problem> {
        life(self.lease_ms, space)
    }
}

fn life(lease_ms: Option<u64>, space: &Space) -> Result<Duration, Problem> {
    let options = space.cache.options();
    let most = options.load_timeout;
    let life = lease_ms.map_or(options.lease.min(most), Duration::from_millis);
    if life.is_zero() || life > most {
        let bounds = format!("from 1 to {}, the `load_timeout` of the space", most.as_millis());
        return Err(out_of_bounds("lease_ms", &bounds));
    }
    Ok(life)
}

fn out_of_bounds(name: &str, bounds: &str) -> Problem {
    Problem::new(Kind::InvalidBody, format!("in the body, `{name}` must be {bounds}"))
}

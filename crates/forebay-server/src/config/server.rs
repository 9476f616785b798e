//! The table `[server]`: how long requests and the shutdown may take, and how its own callers are limited.

use std::time::Duration;

use forebay::http::{Addresses, HeaderStyle};
use serde::{Deserialize, Deserializer, de::Error};

use super::{Cache, Limits, WAIT, period::Period};

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
    /// The policy by which the server limits its own callers: 1 for each call, however many checks a batch has.
    /// Default: none.
    limit: Option<String>,
    /// Which headers show what is left of a limit. Default: `X-RateLimit-…`.
    limit_headers: Style,
    /// Networks whose word for the address of a client counts. Default: none.
    trusted_proxies: Proxies,
    /// How many clients may listen to topics at a time. Default: 1,024.
    event_streams: u32,
}

/// The name of a style of headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style(HeaderStyle);

/// Networks, checked by the library.
#[derive(Debug, Clone, Default)]
struct Proxies {
    networks: Vec<String>,
    addresses: Addresses,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            shutdown_budget: Period(Duration::from_secs(10)),
            request_deadline: None,
            limit: None,
            limit_headers: Style::default(),
            trusted_proxies: Proxies::default(),
            event_streams: 1024,
        }
    }
}

impl Server {
    pub(crate) fn shutdown_budget(&self) -> Duration {
        self.shutdown_budget.0
    }

    pub(crate) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    pub(crate) fn limit_headers(&self) -> HeaderStyle {
        self.limit_headers.0
    }

    pub(crate) fn addresses(&self) -> &Addresses {
        &self.trusted_proxies.addresses
    }

    pub(crate) fn event_streams(&self) -> u32 {
        self.event_streams
    }

    pub(super) fn request_deadline(&self, cache: &Cache) -> Duration {
        match self.request_deadline {
            Some(deadline) => deadline.0,
            None => WAIT.max(cache.longest_wait().map_or(WAIT, |(_, wait)| wait)).saturating_add(AFTER_WAIT),
        }
    }

    /// What is legal, and likely not what was meant.
    pub(super) fn doubts(&self) -> Vec<String> {
        let everybody = self.trusted_proxies.networks.iter().find(|network| network.ends_with("/0"));
        let doubt = |network: &String| {
            format!(
                "`server.trusted_proxies` has {network}: any client can claim any address, and pass by limits"
            )
        };
        everybody.map(doubt).into_iter().collect()
    }

    pub(super) fn check(&self, cache: &Cache, limits: &Limits) -> Result<(), String> {
        if let Some(policy) = self.limit().filter(|policy| limits.get(policy).is_none()) {
            return Err(format!(
                "`server.limit` is `{policy}`, and no policy has that name; add [limits.{policy}], or name one of {}",
                limits.names()
            ));
        }
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

impl<'de> Deserialize<'de> for Style {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Proxies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let networks = Vec::<String>::deserialize(deserializer)?;
        let addresses = Addresses::new().trusted(&networks).map_err(D::Error::custom)?;
        Ok(Self { networks, addresses })
    }
}

impl PartialEq for Proxies {
    fn eq(&self, other: &Self) -> bool {
        self.networks == other.networks
    }
}

//! The table `[redis]`: the server through which everything is shared.

use std::{fmt, time::Duration};

use serde::Deserialize;

use super::period::Period;

const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Settings of Redis.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [redis]")]
pub(crate) struct Redis {
    /// Where it is: `--redis`, `FOREBAY_REDIS_URL`, `redis.url`. Default: nowhere, everything stays in this
    /// process.
    pub(super) url: Option<Url>,
    /// How long all questions of one read may take together: `redis.budget`. Default: the library's, 50 ms.
    budget: Option<Period>,
}

impl Redis {
    pub(crate) fn budget(&self) -> Option<Duration> {
        self.budget.map(|budget| budget.0)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self.budget() {
            Some(budget) if budget < SHORTEST => {
                Err("`redis.budget` is below 1ms, so Redis would never be used; leave it out for 50ms"
                    .to_owned())
            }
            Some(budget) if budget > LONGEST => {
                Err("`redis.budget` is over 1m, for which every read would wait when Redis hangs; leave it out for 50ms"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// A URL of Redis, its password included; only the library is to see that.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Url(String);

impl Url {
    /// Everything, for the library.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has a password.
    pub(super) fn has_a_password(&self) -> bool {
        let authority =
            self.0.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?']).next().unwrap_or(""));
        authority.rsplit_once('@').is_some_and(|(who, _)| who.contains(':'))
    }

    /// Whether somebody between this machine and another could read the password.
    pub(super) fn sends_a_password_in_the_clear(&self) -> bool {
        let is_encrypted = self.0.starts_with("rediss") || self.0.starts_with("valkeys");
        let here = ["127.", "localhost", "[::1]"];
        let is_near = self.place().is_some_and(|place| here.iter().any(|host| place.starts_with(host)));
        self.has_a_password() && !is_encrypted && !is_near
    }

    /// Host and port, unless these could be part of a password that was not escaped.
    pub(crate) fn place(&self) -> Option<&str> {
        let (_, rest) = self.0.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if path.contains('@') {
            return None;
        }
        Some(authority.rsplit_once('@').map_or(authority, |(_, place)| place))
    }
}

impl From<String> for Url {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Url").field(&self.place()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Option<String> {
        Url::from(url.to_owned()).place().map(str::to_owned)
    }

    #[test]
    fn tells_host_and_port_without_the_credentials() {
        for (url, told) in [
            ("redis://127.0.0.1:6379", "127.0.0.1:6379"),
            ("rediss://web:secret@cache.example:6380/1?protocol=resp3", "cache.example:6380"),
            ("redis://:sec@ret@[::1]:6379", "[::1]:6379"),
            ("redis+cluster://:secret@a:1,b:2", "a:1,b:2"),
        ] {
            assert_eq!(place(url).as_deref(), Some(told), "{url}");
        }
    }

    #[test]
    fn tells_nothing_that_could_be_part_of_a_password() {
        for url in
            ["redis://web:sec/ret@host", "redis://:12?34@host", "redis://web:1#2@host", "secret@host", ""]
        {
            assert_eq!(place(url), None, "{url}");
        }
    }

    #[test]
    fn is_written_without_the_password_for_debugging_too() {
        let url = Url::from("redis://web:secret@host:1".to_owned());

        assert_eq!(format!("{url:?}"), r#"Url(Some("host:1"))"#);
    }
}

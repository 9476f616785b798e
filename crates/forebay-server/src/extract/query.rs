//! The query, in which every parameter must be known, given once and have a value.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use axum::http::Uri;

use super::escapes::decode;
use crate::error::{Kind, Problem, shown};

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Query {
    once: BTreeMap<String, String>,
    tags: Vec<String>,
}

/// The only parameter that may repeat.
const TAG: &str = "tag";

impl Query {
    /// Reads the query of `uri`, in which only `known` parameters may stand.
    pub(crate) fn read(uri: &Uri, known: &[&str]) -> Result<Self, Problem> {
        let mut read = Self { once: BTreeMap::new(), tags: Vec::new() };
        let query = uri.query().filter(|query| !query.is_empty());
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = |raw: &str| decode(raw).map_err(|why| refuse(name, why));
            let (name, value) = (text(name)?, text(value)?);
            if !known.contains(&name.as_str()) {
                return Err(refuse(&name, &unknown(known)));
            }
            if value.is_empty() {
                return Err(refuse(&name, "has no value"));
            }
            if name == TAG {
                read.tags.push(value);
            } else if read.once.insert(name.clone(), value).is_some() {
                return Err(refuse(&name, "is given more than once"));
            }
        }
        Ok(read)
    }

    /// All that are called `tag`.
    pub(crate) fn tags(&self) -> &[String] {
        &self.tags
    }

    /// A text, which is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.once.get(name).map(String::as_str)
    }

    /// A length of time above zero, in whole milliseconds; one that no number can hold is the longest.
    pub(crate) fn life(&self, name: &str) -> Result<Option<Duration>, Problem> {
        match self.millis(name)? {
            Some(Duration::ZERO) => Err(refuse(name, "must be above 0")),
            life => Ok(life),
        }
    }

    /// A length of time, in whole milliseconds.
    pub(crate) fn millis(&self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.once.get(name) else { return Ok(None) };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refuse(name, "must be a whole number of milliseconds, in digits alone"));
        }
        Ok(Some(Duration::from_millis(text.parse().unwrap_or(u64::MAX))))
    }

    /// A whole number within bounds.
    pub(crate) fn number(&self, name: &str, within: RangeInclusive<u32>) -> Result<Option<u32>, Problem> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let number = number.filter(|number| within.contains(number));
        let bounds = || refuse(name, &format!("must be from {} to {}", within.start(), within.end()));
        number.map(Some).ok_or_else(bounds)
    }

    /// Whether `name=1` is there.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.once.get(name).map(String::as_str) {
            None => Ok(false),
            Some("1") => Ok(true),
            Some(_) => Err(refuse(name, "can only be 1; leave it out otherwise")),
        }
    }
}

fn refuse(name: &str, why: &str) -> Problem {
    Problem::new(Kind::InvalidQuery, format!("the query parameter `{}` {why}", shown(name)))
}

fn unknown(known: &[&str]) -> String {
    match known {
        [] => "is unknown; this call takes none".to_owned(),
        known => format!("is unknown; this call takes {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Query, Problem> {
        Query::read(&format!("/?{query}").parse().unwrap(), &["ttl_ms", "absent", "tag"])
    }

    #[test]
    fn takes_known_parameters_given_once() {
        let query = read("ttl_ms=99999999999999999999999&absent=%31").unwrap();

        assert_eq!(query.life("ttl_ms").unwrap(), Some(Duration::from_millis(u64::MAX)));
        assert!(query.flag("absent").unwrap());
    }

    #[test]
    fn refuses_what_is_unknown_empty_repeated_or_malformed() {
        for query in
            ["ttl=1", "ttl_ms", "ttl_ms=", "&", "ttl_ms=1&", "ttl_ms=1&ttl_ms=1", "ttl_ms=%zz", "tag="]
        {
            assert!(read(query).is_err(), "{query}");
        }
    }

    #[test]
    fn takes_any_number_of_tags() {
        assert_eq!(read("tag=b&ttl_ms=1&tag=%61&tag=b").unwrap().tags(), ["b", "a", "b"]);
        assert!(Query::read(&"/?tag=a".parse().unwrap(), &["ttl_ms"]).is_err());
    }

    #[test]
    fn reads_numbers_in_digits_alone() {
        for value in ["+5", "-5", "5.0", "0x5", "5ms", "%205", "٥"] {
            let query = read(&format!("ttl_ms={value}")).unwrap();

            assert!(query.life("ttl_ms").is_err(), "{value}");
        }
    }
}

//! The tables `[topics.<topic>]`: which topics keep their messages, and for how long.

use std::{collections::BTreeMap, time::Duration};

use forebay::{key::Name, topic::Retention};
use serde::Deserialize;

use super::period::Period;

/// The topics that are declared by their names. Others are there without, and keep nothing.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Topics(BTreeMap<String, Topic>);

/// Options of a topic. File only.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table, as under [topics.\"…\"]")]
struct Topic {
    /// Whether messages are kept for those who come later. Default: false.
    durable: bool,
    /// How many are kept. Default: 10,000.
    max_len: Option<u64>,
    /// For how long. Default: 24 h.
    keep_for: Option<Period>,
}

impl Topics {
    /// All that are declared.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The topics that keep their messages.
    pub(crate) fn durable(&self) -> impl Iterator<Item = (&str, Retention)> {
        let durable = self.0.iter().filter(|(_, topic)| topic.durable);
        durable.map(|(name, topic)| (name.as_str(), topic.retention()))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.0.iter().try_for_each(|(name, topic)| {
            Name::new(name).map_err(|error| format!("`topics.\"{name}\"`: {error}"))?;
            let unused = [("max_len", topic.max_len.is_some()), ("keep_for", topic.keep_for.is_some())];
            match unused.iter().find(|(_, is_given)| *is_given && !topic.durable) {
                Some((setting, _)) => Err(format!(
                    "`topics.\"{name}\".{setting}` is for topics that keep their messages; \
                     add `durable = true`, or leave it out"
                )),
                None => Ok(()),
            }
        })
    }
}

impl Topic {
    fn retention(&self) -> Retention {
        Retention {
            max_len: self.max_len.unwrap_or(10_000),
            keep_for: self.keep_for.map_or(Duration::from_hours(24), |period| period.0),
        }
    }
}

//! The value of the rows on caches over Redis.

use serde::{Deserialize, Serialize};

/// What a service caches: a few fields, most of it text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    /// Raised by each change.
    pub version: u64,
    /// A line.
    pub title: String,
    /// The text.
    pub body: String,
}

impl Article {
    /// A version whose text has so many bytes.
    pub fn of(version: u64, bytes: usize) -> Self {
        let letters = ('a'..='z').cycle().skip(version as usize % 26);
        Self { version, title: format!("Version {version}"), body: letters.take(bytes).collect() }
    }
}

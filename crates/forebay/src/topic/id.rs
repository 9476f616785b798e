//! Where a message stands in its topic.

use std::{fmt, str::FromStr};

use crate::error::{Error, ErrorKind};

/// The place of a message in a durable topic, spelled `1799999999999-42`: the server's time in milliseconds, and the
/// number of the message, which counts on from that of the message before.
///
/// # Example
///
/// ```
/// use forebay::topic::Id;
///
/// let id: Id = "1799999999999-42".parse()?;
/// assert!(Id::BEGINNING < id);
/// assert_eq!(id.to_string(), "1799999999999-42");
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    pub(super) ms: u64,
    pub(super) number: u64,
}

impl Id {
    /// The place before every message.
    pub const BEGINNING: Self = Self { ms: 0, number: 0 };

    /// The place after this one, for a message that comes at `now`, in milliseconds since 1970.
    pub(super) fn next(self, now: u64) -> Self {
        Self { ms: self.ms.max(now), number: self.number + 1 }
    }

    /// How many messages lie between this one and `later`, where that can be told.
    pub(super) fn between(self, later: Self) -> Option<u64> {
        later.number.checked_sub(self.number)?.checked_sub(1)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.number)
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits =
            |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten();
        let id = text
            .split_once('-')
            .and_then(|(ms, number)| Some(Self { ms: digits(ms)?, number: digits(number)? }))
            // There is no message behind the last number.
            .filter(|id| id.number < u64::MAX);
        id.ok_or_else(|| {
            let why = "the id of a message is two numbers with a hyphen between, such as 1799999999999-42; \
                       send it as it was handed out";
            Error::new(ErrorKind::Config, why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "+1-1",
            "1-1-1",
            "1- 1",
            "99999999999999999999-1",
            "1-18446744073709551615",
        ] {
            assert!(text.parse::<Id>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_tell_how_many_lie_between() {
        let id = |number| Id { ms: 5, number };
        assert_eq!([id(1).between(id(2)), id(1).between(id(5))], [Some(0), Some(3)]);
        assert_eq!([id(5).between(id(1)), id(5).between(id(5))], [None, None]);
        assert_eq!(id(7).next(3), id(8));
    }
}

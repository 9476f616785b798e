//! Lengths of time as people write them: `"1h"`, `"30s"`, `"250ms"`.

use std::{fmt, time::Duration};

use jiff::{Span, SpanRelativeTo};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// A length of time in the file. A day has 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period(pub(crate) Duration);

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Period;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a length of time in quotes, such as "1h", "30s" or "250ms""#)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Period, E> {
        parse(text).ok_or_else(|| {
            E::custom(format!(r#""{text}" is no length of time; write one such as "1h", "30s" or "250ms""#))
        })
    }
}

/// A length of time as it is typed.
pub(crate) fn typed(text: &str) -> Result<Duration, String> {
    let remedy = "write a length of time such as 1h, 30s or 250ms";
    parse(text).map(|Period(period)| period).ok_or_else(|| remedy.to_owned())
}

fn parse(text: &str) -> Option<Period> {
    let span: Span = text.parse().ok()?;
    let signed = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(signed).ok().map(Period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let read = |text| parse(text).map(|period| period.0);

        assert_eq!(read("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(read("1h 30m"), Some(Duration::from_secs(5_400)));
        assert_eq!(read("30d"), Some(Duration::from_secs(30 * 86_400)));
        assert_eq!(read("0s"), Some(Duration::ZERO));
        assert_eq!(read("-1s"), None);
        assert_eq!(read("10"), None);
        assert_eq!(read("2 months"), None);
    }
}

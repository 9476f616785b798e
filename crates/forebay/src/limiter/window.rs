//! One window of a tier: how much in how long.

use std::{fmt, str::FromStr, time::Duration};

use crate::error::{Error, ErrorKind};

/// Above it, sums of counts would no longer be exact in a script.
const MOST: u64 = 1 << 40;

const LONGEST: Duration = Duration::from_hours(366 * 24);

/// How much may be taken within a span of time, for example 10 a minute.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use forebay::limiter::Window;
///
/// let window: Window = "10/minute".parse()?;
/// assert_eq!(window, Window::new(10, Duration::from_secs(60))?);
/// assert_eq!("1/7s".parse::<Window>()?.length(), Duration::from_secs(7));
/// # Ok::<(), forebay::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    limit: u64,
    millis: u64,
    burst: Option<u64>,
}

impl Window {
    /// Allows `limit` in `length`. A limit of 0 refuses everything.
    ///
    /// # Errors
    ///
    /// A length that is not a whole number of milliseconds from 1 ms to 366 days, or a limit above 2^40.
    pub fn new(limit: u64, length: Duration) -> Result<Self, Error> {
        if limit > MOST {
            return Err(refused(format!("the limit {limit} is above 2^40, the most that can be counted")));
        }
        if length.is_zero() || length > LONGEST || !length.subsec_nanos().is_multiple_of(1_000_000) {
            let remedy = "use whole milliseconds, from 1 ms to 366 days";
            return Err(refused(format!("the window {length:?} cannot be kept: {remedy}")));
        }
        let millis = u64::try_from(length.as_millis()).expect("366 days are below 2^64 ms");
        Ok(Self { limit, millis, burst: None })
    }

    /// Sets how much may be taken at once in the mode [`Gcra`](super::Mode::Gcra), from 1 to the limit.
    /// Default: the limit.
    #[must_use]
    pub fn burst(self, burst: u64) -> Self {
        Self { burst: Some(burst), ..self }
    }

    /// How much may be taken within [`Window::length`].
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The span of time.
    #[must_use]
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.millis)
    }

    pub(super) fn millis(&self) -> u64 {
        self.millis
    }

    /// How much may be taken at once where that was set.
    pub(super) fn own_burst(&self) -> Option<u64> {
        self.burst
    }

    pub(super) fn most_at_once(&self) -> u64 {
        self.burst.unwrap_or(self.limit)
    }

    /// This window for one of several that share it: at least 1, unless nothing is allowed at all.
    pub(super) fn share(&self, of: u64) -> Self {
        let part = |whole: u64| whole.div_ceil(of.max(1));
        Self { limit: part(self.limit), burst: self.burst.map(part), ..*self }
    }
}

impl FromStr for Window {
    type Err = Error;

    /// Reads `<limit>/<span>`, where the span is a unit or a number and a unit: `10/minute`, `5/30s`. Units are
    /// `ms`; `s`, `sec`, `second`; `m`, `min`, `minute`; `h`, `hour`; `d`, `day`; and the plurals of the whole words.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unreadable = || {
            let remedy = "write <limit>/<span>, as in 10/minute or 5/30s";
            refused(format!("{text:?} is no window: {remedy}"))
        };
        let (limit, span) = text.split_once('/').ok_or_else(unreadable)?;
        let digits = span.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = span.split_at(digits);
        let count = if count.is_empty() { 1 } else { number(count).ok_or_else(unreadable)? };
        let millis = unit_millis(unit.trim_start()).and_then(|unit| unit.checked_mul(count));
        let limit = number(limit.trim()).ok_or_else(unreadable)?;
        Self::new(limit, Duration::from_millis(millis.ok_or_else(unreadable)?))
    }
}

/// A decimal number; `parse` alone would let a plus sign pass.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn unit_millis(unit: &str) -> Option<u64> {
    Some(match unit {
        "ms" => 1,
        "s" | "sec" | "second" | "seconds" => 1_000,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 86_400_000,
        _ => return None,
    })
}

impl TryFrom<&str> for Window {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        text.parse()
    }
}

impl TryFrom<String> for Window {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.limit)?;
        match self.millis {
            1_000 => f.write_str("second"),
            60_000 => f.write_str("minute"),
            3_600_000 => f.write_str("hour"),
            86_400_000 => f.write_str("day"),
            millis if millis % 1_000 == 0 => write!(f, "{}s", millis / 1_000),
            millis => write!(f, "{millis}ms"),
        }
    }
}

fn refused(why: String) -> Error {
    Error::new(ErrorKind::Config, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_is_written() {
        for text in ["10/minute", "0/hour", "5/30s", "1099511627776/ms", "7/1500ms", "3/day"] {
            let window: Window = text.parse().unwrap();
            assert_eq!(window.to_string().parse::<Window>().unwrap(), window, "{text}");
        }
        assert_eq!("100 / 2 hours".parse::<Window>().unwrap_err().kind(), ErrorKind::Config);
        assert_eq!(
            "100/2hours".parse::<Window>().unwrap(),
            Window::new(100, Duration::from_hours(2)).unwrap()
        );
    }

    #[test]
    fn whatever_is_no_window_is_refused_by_its_text() {
        for text in [
            "",
            "10",
            "/minute",
            "10/",
            "-1/s",
            "+1/s",
            "1.5/s",
            "10/fortnight",
            "10/0s",
            "1/99999999999999d",
        ] {
            let refusal = text.parse::<Window>().unwrap_err();
            assert_eq!(refusal.kind(), ErrorKind::Config);
        }
        assert!("10/fortnight".parse::<Window>().unwrap_err().to_string().contains("fortnight"));
    }

    #[test]
    fn what_cannot_be_counted_exactly_is_refused() {
        let second = Duration::from_secs(1);
        assert!(Window::new(1 << 40, second).is_ok());
        assert!(Window::new((1 << 40) + 1, second).is_err());
        for length in
            [Duration::ZERO, Duration::from_micros(999), Duration::from_micros(1_500), LONGEST + second]
        {
            assert!(Window::new(1, length).is_err(), "{length:?}");
        }
    }

    #[test]
    fn a_share_is_rounded_up() {
        let window = Window::new(10, Duration::from_secs(1)).unwrap();
        assert_eq!(window.share(3).limit(), 4);
        assert_eq!(window.share(100).limit(), 1);
        assert_eq!(Window { limit: 0, ..window }.share(3).limit(), 0);
    }
}

//! The headers in which an answer shows a quota, as each style spells them.

use std::{fmt, str::FromStr, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue};
use sfv::{Integer, ListSerializer, StringRef, key_ref};

use crate::{
    clock,
    error::{Error, ErrorKind},
    limiter::{Decision, Quota, WindowQuota},
};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Names the headers that show a quota.
///
/// All but `Off` write `X-RateLimit-Limit`, `-Remaining` and `-Reset`, in epoch seconds, of the window that binds.
/// A draft of the IETF (draft-ietf-httpapi-ratelimit-headers) adds `RateLimit-Policy` and `RateLimit`, with every
/// window of the tier under a name of its own, such as `api-minute`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderStyle {
    /// None.
    Off,
    /// The three that are in common use.
    #[default]
    Legacy,
    /// Those and the fields of draft 8.
    Draft8,
    /// Those and the fields of draft 9.
    Draft9,
    /// Those and the fields of draft 10.
    Draft10,
    /// Those and the fields of draft 11.
    Draft11,
}

/// How drafts spell their two fields and the parameters of these.
struct Spelling {
    drafts: &'static [HeaderStyle],
    policies: &'static str,
    quota: &'static str,
    window: &'static str,
    limits: &'static str,
    remaining: &'static str,
    reset: &'static str,
}

/// All spellings: a draft that has another is another row.
const SPELLINGS: [Spelling; 1] = [Spelling {
    drafts: &[HeaderStyle::Draft8, HeaderStyle::Draft9, HeaderStyle::Draft10, HeaderStyle::Draft11],
    policies: "ratelimit-policy",
    quota: "q",
    window: "w",
    limits: "ratelimit",
    remaining: "r",
    reset: "t",
}];

/// What each style is called in settings.
const STYLES: [(HeaderStyle, &str); 6] = [
    (HeaderStyle::Off, "off"),
    (HeaderStyle::Legacy, "legacy"),
    (HeaderStyle::Draft8, "draft-8"),
    (HeaderStyle::Draft9, "draft-9"),
    (HeaderStyle::Draft10, "draft-10"),
    (HeaderStyle::Draft11, "draft-11"),
];

impl HeaderStyle {
    /// Shows the quota of `decision` in `headers`, in place of what was shown before. An unlimited tier shows
    /// nothing, nor does a decision without a quota.
    pub fn write(self, decision: &Decision, headers: &mut HeaderMap) {
        let (quota, retry_after) = match decision {
            Decision::Allowed(quota) => (quota, None),
            Decision::Denied { quota, retry_after } => (quota, Some(*retry_after)),
            Decision::NeverFits { .. } | Decision::Unavailable { .. } => return,
        };
        if self == Self::Off || quota.is_unlimited() {
            return;
        }
        clear(headers);
        write_legacy(quota, headers);
        if let Some(spelling) = self.spelling() {
            spelling.write(quota, retry_after, headers);
        }
    }

    fn spelling(self) -> Option<&'static Spelling> {
        SPELLINGS.iter().find(|spelling| spelling.drafts.contains(&self))
    }
}

impl fmt::Display for HeaderStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = STYLES.iter().find(|(style, _)| style == self);
        f.write_str(row.map_or("", |(_, name)| name))
    }
}

impl FromStr for HeaderStyle {
    type Err = Error;

    /// Reads `off`, `legacy` or `draft-8` to `draft-11`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let row = STYLES.into_iter().find(|(_, name)| *name == text);
        row.map(|(style, _)| style).ok_or_else(|| {
            let names = STYLES.map(|(_, name)| name).join(", ");
            Error::new(ErrorKind::Config, format!("`{text}` is no style of headers; there are {names}"))
        })
    }
}

impl Spelling {
    fn write(&self, quota: &Quota, retry_after: Option<Duration>, headers: &mut HeaderMap) {
        let (mut policies, mut limits) = (ListSerializer::new(), ListSerializer::new());
        for window in quota.windows() {
            let name = window_name(quota, &window);
            let Ok(name) = StringRef::from_str(&name) else { continue };
            let (quota_key, window_key) = (key_ref(self.quota), key_ref(self.window));
            let (remaining_key, reset_key) = (key_ref(self.remaining), key_ref(self.reset));
            policies
                .bare_item(name)
                .parameter(quota_key, integer(window.limit))
                .parameter(window_key, integer(seconds(window.window)));
            limits
                .bare_item(name)
                .parameter(remaining_key, integer(window.remaining))
                .parameter(reset_key, integer(seconds(reset_after(quota, &window, retry_after))));
        }
        for (name, list) in [(self.policies, policies), (self.limits, limits)] {
            if let Some(value) = list.finish().and_then(|list| HeaderValue::try_from(list).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

/// When the drafts' clients may expect more. No later than `Retry-After` in the window that refused, so that the
/// two do not contradict each other.
fn reset_after(quota: &Quota, window: &WindowQuota, retry_after: Option<Duration>) -> Duration {
    let refused = retry_after.filter(|_| window.window == quota.window());
    refused.map_or(window.reset_after, |retry_after| window.reset_after.min(retry_after))
}

fn write_legacy(quota: &Quota, headers: &mut HeaderMap) {
    headers.insert(LIMIT, quota.limit().into());
    headers.insert(REMAINING, quota.remaining().into());
    headers.insert(RESET, seconds(clock::time_of_day().saturating_add(quota.reset_after())).into());
}

/// Removes what another layer has shown, in whatever style.
fn clear(headers: &mut HeaderMap) {
    [LIMIT, REMAINING, RESET].iter().for_each(|name| drop(headers.remove(name)));
    for name in SPELLINGS.iter().flat_map(|spelling| [spelling.policies, spelling.limits]) {
        headers.remove(name);
    }
}

/// Names one window of a policy, for example `api-minute` or `api-30s`.
pub(super) fn window_name(quota: &Quota, window: &WindowQuota) -> String {
    let policy = quota.policy();
    match window.window.as_millis() {
        1_000 => format!("{policy}-second"),
        60_000 => format!("{policy}-minute"),
        3_600_000 => format!("{policy}-hour"),
        86_400_000 => format!("{policy}-day"),
        millis if millis.is_multiple_of(1_000) => format!("{policy}-{}s", millis / 1_000),
        millis => format!("{policy}-{millis}ms"),
    }
}

/// Whole seconds, rounded up.
pub(super) fn seconds(span: Duration) -> u64 {
    span.as_secs().saturating_add(u64::from(span.subsec_nanos() > 0))
}

fn integer(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(Integer::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_is_read_by_its_name() {
        for (style, name) in STYLES {
            assert_eq!((name.parse::<HeaderStyle>().unwrap(), style.to_string()), (style, name.into()));
        }
        assert_eq!(
            "draft-7".parse::<HeaderStyle>().unwrap_err().to_string(),
            "`draft-7` is no style of headers; there are off, legacy, draft-8, draft-9, draft-10, draft-11"
        );
    }
}

//! What bodies give: lengths of time and tokens, refused by the names of the members.

use std::time::Duration;

use axum::http::StatusCode;
use forebay::{Error, ErrorKind, Token};
use serde::Deserialize;
use serde_json::json;

use super::answer::millis;
use crate::error::{Kind, Problem};

/// A token that the client has made.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct GivenToken(pub(super) Token);

impl TryFrom<String> for GivenToken {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse().map(Self)
    }
}

/// What must be there.
pub(super) fn required<T>(given: Option<T>, member: &str) -> Result<T, Problem> {
    given.ok_or_else(|| Problem::new(Kind::InvalidBody, format!("in the body: `{member}` is missing")))
}

/// A length of time, or what stands for one that is left out.
pub(super) fn life(given_ms: Option<u64>, default: Duration) -> Duration {
    given_ms.map_or(default, Duration::from_millis)
}

/// What the library says of the value that `member` has in the body, or of its store.
pub(super) fn refused(member: &str, error: &Error) -> Problem {
    let detail = match error.kind() {
        ErrorKind::Config => format!("in the body, `{member}`: {error}"),
        _ => return Problem::of(error),
    };
    Problem::new(Kind::InvalidBody, detail)
}

/// A refusal by somebody who was first, and `left` until he ends.
pub(super) fn occupied(kind: Kind, detail: &str, left: Duration) -> Problem {
    Problem::new(kind, detail).retry_after(left).with(json!({ "retry_after_ms": millis(left).max(1) }))
}

/// A token under which nothing is held.
pub(super) fn not_the_holder(consequence: &str) -> Problem {
    let detail =
        format!("nothing is held under this token: it ended, was given back, or never was; {consequence}");
    Problem::new(Kind::NotTheHolder, detail)
}

/// What was to be given back was held under the token, or was not.
pub(super) fn done(was_held: bool) -> Result<StatusCode, Problem> {
    if was_held { Ok(StatusCode::NO_CONTENT) } else { Err(not_the_holder("nothing is changed")) }
}

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

/// A text that must be there, and say something.
pub(super) fn required_text<'a>(given: Option<&'a str>, member: &str) -> Result<&'a str, Problem> {
    match required(given, member)? {
        "" => Err(Problem::new(Kind::InvalidBody, format!("in the body: `{member}` is empty; give a text"))),
        text => Ok(text),
    }
}

/// A length of time within bounds, which the refusal of another says in ms.
pub(super) fn life(
    given_ms: u64,
    member: &str,
    [least, most]: [Duration; 2],
    which: &str,
) -> Result<Duration, Problem> {
    let life = Duration::from_millis(given_ms);
    if (least..=most).contains(&life) {
        return Ok(life);
    }
    let (least, most) = (least.as_millis(), most.as_millis());
    let detail = format!("in the body, `{member}` is {given_ms}; give {least} to {most}{which}");
    Err(Problem::new(Kind::InvalidBody, detail))
}

/// What the library says of what the body asks for, or of its store.
pub(super) fn refused(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::Config => Problem::new(Kind::InvalidBody, format!("in the body: {error}")),
        _ => Problem::of(error),
    }
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

//! The API keys: where a request shows one, whose it is, and the answer to one that is nobody's.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, StatusCode, header::AUTHORIZATION, request::Parts},
};
use forebay::{
    Subject,
    http::{Caller, Identity},
};

use crate::problem::Problem;

/// Each key with the id that stands for it in logs and in Redis, and its tier. A real table has hashes of the keys.
const KEYS: [(&str, &str, &str); 3] =
    [("demo-free", "k-1", "free"), ("demo-basic", "k-2", "basic"), ("demo-pro", "k-3", "pro")];

/// Says whose key a request shows, for the layer that finds out who is asking.
pub(crate) fn identity(
    head: &Parts,
) -> impl Future<Output = Result<Option<Identity>, Infallible>> + Send + use<> {
    let key = shown(&head.headers);
    async move {
        let Some(key) = key else { return Ok(None) };
        let record = find(&key).await?;
        Ok(record.map(|(id, tier)| Identity::new(Subject::key(id)).tier(tier)))
    }
}

/// Finds the id and the tier of a key, as a query of a database would.
async fn find(key: &str) -> Result<Option<(&'static str, &'static str)>, Infallible> {
    Ok(KEYS.iter().find(|(known, ..)| *known == key).map(|(_, id, tier)| (*id, *tier)))
}

/// The key in `X-Api-Key`, or in `Authorization: Bearer`.
fn shown(headers: &HeaderMap) -> Option<String> {
    let key = headers.get("x-api-key").map(HeaderValue::as_bytes);
    let key = key.or_else(|| match headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)? {
        (scheme, key) if scheme.eq_ignore_ascii_case(b"bearer ") => Some(key),
        _ => None,
    })?;
    // What is no text is a key too, and nobody's.
    Some(String::from_utf8_lossy(key).into_owned())
}

/// A caller with a key that somebody has, or with none.
///
/// A handler's argument, and so further in than the limits: also a wrong key takes from the quota of its address. A
/// right one has its own, so that this does not keep anybody from guessing: keys must be long.
pub(crate) struct Known(pub(crate) Caller);

impl<S: Sync> FromRequestParts<S> for Known {
    type Rejection = Problem;

    async fn from_request_parts(head: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Ok(caller) = <Caller as FromRequestParts<S>>::from_request_parts(head, state).await;
        let identified = *caller.subject() != caller.address();
        if shown(&head.headers).is_some() && !identified {
            return Err(Problem(
                StatusCode::UNAUTHORIZED,
                "nobody has this API key; without a key the tier is free",
            ));
        }
        Ok(Self(caller))
    }
}

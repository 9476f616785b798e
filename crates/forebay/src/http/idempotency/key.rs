//! The field `Idempotency-Key`, and what else tells requests apart.

use std::convert::Infallible;

use http::{HeaderMap, HeaderName, header::CONTENT_TYPE, request::Parts};
use sfv::{BareItemFromInput, Parser, visitor::Ignored};

use crate::subject::Subject;

const FIELD: HeaderName = HeaderName::from_static("idempotency-key");

const LONGEST: usize = 255;

/// A field that is there and cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unusable(pub(super) &'static str);

/// The key of a request, if it has one: a string of structured fields (RFC 9651), or bare as many clients send it.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Unusable> {
    let mut lines = headers.get_all(FIELD).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(Unusable("there is more than one"));
    }
    let key =
        if line.as_bytes().first() == Some(&b'"') { quoted(line.as_bytes()) } else { bare(line.as_bytes()) };
    let key = key.ok_or(Unusable("it is neither a quoted string nor bare visible ASCII"))?;
    match key.len() {
        1..=LONGEST => Ok(Some(key)),
        _ => Err(Unusable("it has not 1 to 255 characters")),
    }
}

fn quoted(line: &[u8]) -> Option<String> {
    let mut text = None;
    let visitor = |item: BareItemFromInput<'_>| {
        if let BareItemFromInput::String(string) = item {
            text = Some(string.as_str().to_owned());
        }
        Ok::<_, Infallible>(Ignored)
    };
    Parser::new(line).parse_item_with_visitor(visitor).ok()?;
    text
}

/// Nothing that could be a list, a parameter or a part of a string.
fn bare(line: &[u8]) -> Option<String> {
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b"\",;\\".contains(byte);
    line.iter().all(fits).then(|| line.iter().copied().map(char::from).collect())
}

/// The name of what runs once: the key, as one caller sends it to one route.
pub(super) fn name(subject: &Subject, head: &Parts, key: &str) -> String {
    digest([
        subject.as_str().as_bytes(),
        head.method.as_str().as_bytes(),
        route(head).as_bytes(),
        key.as_bytes(),
    ])
}

/// What the request wants: under one key nothing else may come.
pub(super) fn fingerprint(head: &Parts, body: &[u8]) -> String {
    let target = original(head).path_and_query().map_or("", |target| target.as_str());
    let content_type = head.headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
    digest([head.method.as_str().as_bytes(), target.as_bytes(), content_type, body])
}

/// The route as it was declared, where that is known, else the path.
fn route(head: &Parts) -> &str {
    #[cfg(feature = "axum")]
    if let Some(route) = head.extensions.get::<axum::extract::MatchedPath>() {
        return route.as_str();
    }
    original(head).path()
}

/// The target as the client sent it, also in a router that is nested.
fn original(head: &Parts) -> &http::Uri {
    #[cfg(feature = "axum")]
    if let Some(original) = head.extensions.get::<axum::extract::OriginalUri>() {
        return &original.0;
    }
    &head.uri
}

/// Parts of any bytes have one digest only if they are the same.
fn digest(parts: [&[u8]; 4]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<String>, Unusable> {
        let mut headers = HeaderMap::new();
        headers.insert(FIELD, line.parse().unwrap());
        key(&headers)
    }

    #[test]
    fn a_key_is_the_same_quoted_and_bare() {
        for line in ["8e03978e-40d5-43dd", "\"8e03978e-40d5-43dd\"", "\"8e03978e-40d5-43dd\";v=1"] {
            assert_eq!(read(line).unwrap().unwrap(), "8e03978e-40d5-43dd", "{line}");
        }
        assert_eq!(read(r#""a \"b\" c""#).unwrap().unwrap(), r#"a "b" c"#);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let long = "k".repeat(256);
        for line in ["", "\"\"", "a b", "a,b", "a;b=1", "\"a", "\"a\" b", "\"a\", \"b\"", "ü", &long] {
            assert!(read(line).is_err(), "{line}");
        }
        assert!(read(&long[1..]).is_ok());
    }

    #[test]
    fn parts_that_are_cut_elsewhere_have_another_digest() {
        assert_ne!(digest([b"ab", b"c", b"", b""]), digest([b"a", b"bc", b"", b""]));
        assert_ne!(digest([b"", b"a", b"", b""]), digest([b"a", b"", b"", b""]));
    }
}

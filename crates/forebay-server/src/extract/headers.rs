//! Headers of a write: what they may say of its body, and what they may not ask.

use axum::http::{
    HeaderMap, HeaderValue,
    header::{CONTENT_ENCODING, CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
};

use crate::error::{Kind, Problem};

/// The longest `Content-Type` that is kept, in bytes.
const LONGEST: usize = 255;

/// The media type of the body, if the client names one.
pub(crate) fn content_type(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => value,
        (Some(_), Some(_)) => return Err(refuse("Content-Type", "is given more than once")),
    };
    let text = value.to_str().unwrap_or_default();
    checked(text).map_err(|why| refuse("Content-Type", &why))?;
    Ok(Some(text.to_owned()))
}

/// A media type that a body gives.
pub(crate) fn media_type(text: String) -> Result<String, Problem> {
    let refuse = |why| Problem::new(Kind::InvalidBody, format!("in the body: `content_type` {why}"));
    checked(&text).map_err(refuse)?;
    Ok(text)
}

fn checked(text: &str) -> Result<(), String> {
    let sendable = HeaderValue::from_str(text).is_ok();
    match text.len() > LONGEST {
        true => Err(format!("has more than {LONGEST} bytes")),
        false if sendable && is_media_type(text) => Ok(()),
        false => Err("must be a type and a subtype, such as `application/json`".to_owned()),
    }
}

/// What follows the semicolon is between the writer and the readers.
fn is_media_type(text: &str) -> bool {
    let essence = text.split_once(';').map_or(text, |(essence, _)| essence.trim_ascii_end());
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Refuses an encoding: it is not kept, so that no reader would learn of it.
pub(crate) fn unencoded(headers: &HeaderMap) -> Result<(), Problem> {
    let listed =
        headers.get_all(CONTENT_ENCODING).iter().flat_map(|value| value.as_bytes().split(|b| *b == b','));
    let mut named = listed.map(<[u8]>::trim_ascii).filter(|encoding| !encoding.is_empty());
    if named.all(|encoding| encoding.eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    let detail = "the header `Content-Encoding` is not kept; send the bytes as they are to be kept, or name the \
                  encoding in a media type of your own";
    Err(Problem::new(Kind::UnsupportedContentEncoding, detail))
}

/// Refuses preconditions: a write that ignored them would overwrite what its client wants to keep.
pub(crate) fn unconditional(headers: &HeaderMap) -> Result<(), Problem> {
    let preconditions = [
        (IF_MATCH, "If-Match"),
        (IF_NONE_MATCH, "If-None-Match"),
        (IF_UNMODIFIED_SINCE, "If-Unmodified-Since"),
    ];
    match preconditions.iter().find(|(name, _)| headers.contains_key(name)) {
        Some((_, name)) => Err(refuse(name, "is not taken here; preconditions are for reads")),
        None => Ok(()),
    }
}

fn refuse(name: &str, why: &str) -> Problem {
    Problem::new(Kind::InvalidHeader, format!("the header `{name}` {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_media_type() {
        for known in ["a/b", "text/html; charset=utf-8", "text/html ;a", "application/vnd.a+json;", "*/*"] {
            assert!(is_media_type(known), "{known}");
        }
        for unknown in ["", "/", "a", "a/", "/b", "a/b/c", "a b/c", "a/b c", ";a/b", "a /b", "a/b, c/d"] {
            assert!(!is_media_type(unknown), "{unknown}");
        }
    }
}

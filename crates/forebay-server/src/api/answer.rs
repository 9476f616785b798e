//! Answers of the cache: a value with what is known of it, and the headers that say how the cache took part.

use std::time::Duration;

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{AGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use forebay::cache::{Entry, Source};
use serde::Serialize;
use sfv::{Integer, ItemSerializer, key_ref, token_ref};

use crate::{
    content::Content,
    error::{Kind, Problem},
};

pub(super) const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
pub(crate) const FOREBAY_CACHE: HeaderName = HeaderName::from_static("forebay-cache");

/// How the cache took part, for people: the header `Forebay-Cache`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    Hit,
    Stale,
    Miss,
    Busy,
    Coalesced,
    Bypass,
}

/// How the cache took part, for machines: a parameter of `Cache-Status` (RFC 9211).
#[derive(Debug, Clone, Copy)]
enum Part {
    Hit,
    /// Why the client has to ask the origin.
    Forward(&'static str),
    Stored,
    Collapsed,
    TimeToLive(Duration),
    /// The level that answered.
    Detail(&'static str),
}

/// Both headers.
fn marks(outcome: Outcome, parts: &[Part]) -> [(HeaderName, HeaderValue); 2] {
    let outcome = match outcome {
        Outcome::Hit => "HIT",
        Outcome::Stale => "STALE",
        Outcome::Miss => "MISS",
        Outcome::Busy => "BUSY",
        Outcome::Coalesced => "COALESCED",
        Outcome::Bypass => "BYPASS",
    };
    [(FOREBAY_CACHE, HeaderValue::from_static(outcome)), cache_status(parts)]
}

fn cache_status(parts: &[Part]) -> (HeaderName, HeaderValue) {
    let mut status = ItemSerializer::new().bare_item(token_ref("forebay"));
    for part in parts {
        status = match *part {
            Part::Hit => status.parameter(key_ref("hit"), true),
            Part::Forward(why) => status.parameter(key_ref("fwd"), token_ref(why)),
            Part::Stored => status.parameter(key_ref("stored"), true),
            Part::Collapsed => status.parameter(key_ref("collapsed"), true),
            Part::TimeToLive(life) => status.parameter(key_ref("ttl"), seconds(life)),
            Part::Detail(level) => status.parameter(key_ref("detail"), token_ref(level)),
        };
    }
    let value = HeaderValue::try_from(status.finish()).expect("a structured field is visible ASCII");
    (CACHE_STATUS, value)
}

fn seconds(life: Duration) -> Integer {
    Integer::try_from(life.as_secs()).unwrap_or(Integer::MAX)
}

/// 200 with the value of `entry`, for a client that need not load it.
pub(super) fn found(entry: &Entry<Content>) -> Response {
    let level = match entry.source {
        Source::Memory => Some("L1"),
        Source::Store => Some("L2"),
        Source::Loaded | Source::Coalesced => None,
    };
    let outcome = match level {
        _ if entry.is_stale() => Outcome::Stale,
        Some(_) => Outcome::Hit,
        None => Outcome::Coalesced,
    };
    let life = Part::TimeToLive(entry.fresh_for);
    let marks = match level {
        Some(level) => marks(outcome, &[Part::Hit, life, Part::Detail(level)]),
        None => marks(outcome, &[Part::Forward("miss"), Part::Collapsed, life]),
    };
    (marks, value(entry)).into_response()
}

/// 200 with the value of `entry`, for the client that is to replace it.
pub(super) fn found_to_replace(entry: &Entry<Content>) -> Response {
    if !entry.is_stale() {
        return found(entry);
    }
    let parts = [Part::Forward("stale"), Part::TimeToLive(entry.fresh_for)];
    (marks(Outcome::Stale, &parts), value(entry)).into_response()
}

/// `answer`, which has no value, for a client that has to ask the origin, and `why` it has to.
pub(super) fn forward(outcome: Outcome, why: &'static str, answer: impl IntoResponse) -> Response {
    (marks(outcome, &[Part::Forward(why)]), answer).into_response()
}

fn value(entry: &Entry<Content>) -> Response {
    let headers = [
        content_type(entry.value.content_type.as_deref()),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (AGE, entry.age.as_secs().into()),
        (ETAG, etag(entry)),
    ];
    (headers, Body::from(entry.value.bytes.clone())).into_response()
}

/// The header for bytes of this type, which is what somebody wrote.
pub(crate) fn content_type(written: Option<&str>) -> (HeaderName, HeaderValue) {
    let sendable = written.and_then(|text| HeaderValue::from_str(text).ok());
    (CONTENT_TYPE, sendable.unwrap_or(HeaderValue::from_static("application/octet-stream")))
}

/// The validator if the entry has one that can be sent, else its number.
fn etag(entry: &Entry<Content>) -> HeaderValue {
    let sendable = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
    let tag = match entry.validator.as_deref().filter(sendable) {
        Some(validator) => format!("\"{validator}\""),
        None => format!("\"{:016x}\"", entry.id),
    };
    HeaderValue::try_from(tag).expect("an entity tag is visible ASCII")
}

/// Turns a 200 into a 304 if the client has this very value.
pub(super) fn unless_known(found: Response, asked: &HeaderMap) -> Response {
    let known = found.headers().get(ETAG).is_some_and(|tag| names(asked, tag.as_bytes()));
    if !known {
        return found;
    }
    let (mut parts, _) = found.into_parts();
    parts.status = StatusCode::NOT_MODIFIED;
    parts.headers.remove(CONTENT_TYPE);
    Response::from_parts(parts, Body::empty())
}

fn names(asked: &HeaderMap, tag: &[u8]) -> bool {
    members(asked, &IF_NONE_MATCH)
        .any(|listed| listed == b"*" || listed.strip_prefix(b"W/").unwrap_or(listed) == tag)
}

/// Whether the client asks to bypass the cache.
pub(super) fn bypasses(asked: &HeaderMap) -> bool {
    members(asked, &CACHE_CONTROL).any(|directive| directive.eq_ignore_ascii_case(b"no-cache"))
}

/// The members of a header that is a list.
fn members<'a>(asked: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    let values = asked.get_all(name).iter();
    values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

/// 404 for an id that is known to have no value.
pub(super) fn absent() -> Response {
    let problem = Problem::new(Kind::CachedAbsence, "whoever loaded this id last found nothing");
    (marks(Outcome::Hit, &[Part::Hit]), problem).into_response()
}

/// 204 for a value, or an absence, that is in the cache now.
pub(super) fn stored() -> Response {
    (StatusCode::NO_CONTENT, [cache_status(&[Part::Stored])]).into_response()
}

/// 200 with `members`.
pub(crate) fn json(members: &impl Serialize) -> Response {
    let text = serde_json::to_string(members).expect("members have a JSON form");
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

/// `span` as a number in JSON.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The same, finer.
pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

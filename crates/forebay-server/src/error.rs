//! Problems: how every refused request is answered (RFC 9457).

use std::time::Duration;

use axum::{
    body::Body,
    http::{
        HeaderValue, StatusCode,
        header::{ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use forebay::{Error, ErrorKind};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

/// In front of the name of each kind.
pub(crate) const TYPES: &str = "https://forebay.dev/problems/";

/// What is wrong. Its name is the last part of the problem's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    InvalidPath,
    InvalidQuery,
    InvalidHeader,
    InvalidBody,
    InvalidSpace,
    TooManySpaces,
    InvalidCounter,
    InvalidTopic,
    TooManyCounters,
    NoTimeToLive,
    Unauthorized,
    Forbidden,
    NotFound,
    CacheMiss,
    CachedAbsence,
    UnknownPolicy,
    MethodNotAllowed,
    RequestTimeout,
    Busy,
    LeaseLost,
    NoStaleValue,
    Locked,
    NotTheHolder,
    Taken,
    Running,
    Indeterminate,
    RecordOmitted,
    OtherRecord,
    TooLarge,
    NeverFits,
    OtherFingerprint,
    QuotaExceeded,
    UnsupportedContentEncoding,
    Internal,
    ForeignKey,
    LoadFailed,
    DeadlinePassed,
    TooManyStreams,
    RedisUnavailable,
    ShuttingDown,
}

/// How long a detail can be, in bytes: it may show what a client has sent, which may be long.
const LONGEST: usize = 1_000;

/// How much is shown of a name that a client has sent, in bytes.
const NAME: usize = 100;

/// A name as a detail shows it.
pub(crate) fn shown(name: &str) -> String {
    bounded(name.to_owned(), NAME)
}

/// A text, or both ends of one that is too long.
fn bounded(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let half = most / 2;
    let (first, last) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    format!("{} […] {}", &text[..first], &text[last..])
}

/// When to come back to a server that is in want of something for a moment, if nobody knows better.
const SOON: u64 = 1;

impl Kind {
    /// The last part of the `type`.
    pub(crate) fn name(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::InvalidPath => (400, "invalid-path", "The path cannot be read"),
            Self::InvalidQuery => (400, "invalid-query", "A query parameter cannot be used"),
            Self::InvalidHeader => (400, "invalid-header", "A header cannot be used"),
            Self::InvalidBody => (400, "invalid-body", "The body cannot be read"),
            Self::InvalidSpace => (400, "invalid-space", "No space can have this name"),
            Self::TooManySpaces => (400, "too-many-spaces", "No further space can be made"),
            Self::InvalidCounter => (400, "invalid-counter", "No counter can have this name"),
            Self::InvalidTopic => (400, "invalid-topic", "No topic can have this name"),
            Self::TooManyCounters => (400, "too-many-counters", "No further counter can be made"),
            Self::NoTimeToLive => (400, "no-time-to-live", "Nothing says how long to keep the value"),
            Self::Unauthorized => (401, "unauthorized", "A valid token is needed"),
            Self::Forbidden => (403, "forbidden", "The token does not allow this"),
            Self::NotFound => (404, "not-found", "There is no such call"),
            Self::CacheMiss => (404, "cache-miss", "The cache holds no value for this id"),
            Self::CachedAbsence => (404, "cached-absence", "The id is known to have no value"),
            Self::UnknownPolicy => (404, "unknown-policy", "No policy has this name"),
            Self::MethodNotAllowed => (405, "method-not-allowed", "The call does not take this method"),
            Self::RequestTimeout => (408, "request-timeout", "The body took too long to arrive"),
            Self::Busy => (409, "busy", "Somebody else is loading this id"),
            Self::LeaseLost => (409, "lease-lost", "The lease is no longer held"),
            Self::NoStaleValue => (409, "no-stale-value", "There is no stale value to keep"),
            Self::Locked => (409, "locked", "Somebody else holds the lock"),
            Self::NotTheHolder => (409, "not-the-holder", "The token holds nothing here"),
            Self::Taken => (409, "taken", "Somebody else has claimed the name"),
            Self::Running => (409, "running", "Somebody is running it"),
            Self::Indeterminate => (409, "indeterminate", "Nobody knows whether it was done"),
            Self::RecordOmitted => (409, "record-omitted", "It was done, and its record is not kept"),
            Self::OtherRecord => (409, "other-record", "It was completed with another record"),
            Self::TooLarge => (413, "too-large", "The body is too large"),
            Self::UnsupportedContentEncoding => {
                (415, "unsupported-content-encoding", "The body is in an encoding that is not kept")
            }
            Self::NeverFits => (422, "never-fits", "The cost is more than can ever be allowed"),
            Self::OtherFingerprint => (422, "other-fingerprint", "The key belongs to another request"),
            Self::QuotaExceeded => (429, "quota-exceeded", "Nothing is left of a quota"),
            Self::Internal => (500, "internal", "The server failed"),
            Self::ForeignKey => (500, "foreign-key", "Something in Redis is in the way"),
            Self::LoadFailed => (503, "load-failed", "A load of this id failed a moment ago"),
            Self::DeadlinePassed => (503, "deadline-passed", "The request took too long"),
            Self::TooManyStreams => (503, "too-many-streams", "No further client can listen"),
            Self::RedisUnavailable => (503, "redis-unavailable", "Redis cannot be asked"),
            Self::ShuttingDown => (503, "shutting-down", "The server is being shut down"),
        }
    }
}

/// Its row of the table, as the document of the calls wants it.
impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (status, name, title) = self.row();
        let mut row = serializer.serialize_struct("Kind", 3)?;
        row.serialize_field("status", &status)?;
        row.serialize_field("name", name)?;
        row.serialize_field("title", title)?;
        row.end()
    }
}

/// A refusal. It becomes a response without a body: the middleware that knows the request's id writes that.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    kind: Kind,
    detail: String,
    retry_after: Option<u64>,
    /// What this kind of refusal says beyond the others.
    more: Option<Value>,
}

/// A problem as it is written.
#[derive(Debug, Serialize)]
struct Written<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(flatten)]
    more: Option<&'a Value>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (status, ..) = kind.row();
        let detail = bounded(detail.into(), LONGEST);
        Self { kind, detail, retry_after: (status == 503).then_some(SOON), more: None }
    }

    /// Tells the client when to come back, in whole seconds and never at once.
    pub(crate) fn retry_after(self, pause: Duration) -> Self {
        let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
        Self { retry_after: Some(seconds.max(1)), ..self }
    }

    /// Adds the members of `more`.
    pub(crate) fn with(self, more: impl Serialize) -> Self {
        let more = serde_json::to_value(more).expect("members have a JSON form");
        Self { more: Some(more), ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The problem as the answer to the request of this id has it.
    pub(crate) fn value(&self, request_id: &str) -> Value {
        serde_json::to_value(self.written(request_id)).expect("a problem has a JSON form")
    }

    fn written<'a>(&'a self, request_id: &'a str) -> Written<'a> {
        let (status, name, title) = self.kind.row();
        Written {
            r#type: format!("{TYPES}{name}"),
            title,
            status,
            detail: &self.detail,
            request_id,
            retry_after: self.retry_after,
            more: self.more.as_ref(),
        }
    }

    /// Writes the problem as the body of `response`.
    pub(crate) fn write(&self, response: Response, request_id: &str) -> Response {
        let text = serde_json::to_string(&self.written(request_id)).expect("a problem has a JSON form");
        let mut response = response.map(|_| Body::from(text));
        let problem_json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, problem_json);
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, ..) = self.kind.row();
        let status = StatusCode::from_u16(status).expect("the table holds valid statuses");
        let mut response = status.into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.kind == Kind::Unauthorized {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.kind == Kind::UnsupportedContentEncoding {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl Problem {
    /// What the library says of its store, or of itself.
    pub(crate) fn of(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Config => Kind::InvalidQuery,
            ErrorKind::Encode => Kind::InvalidBody,
            ErrorKind::TooLarge => Kind::TooLarge,
            ErrorKind::Unavailable => Kind::RedisUnavailable,
            ErrorKind::Foreign => Kind::ForeignKey,
            _ => Kind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

//! What the headers of answers mean.

use serde_json::{Value, json};

/// Name, JSON type, meaning.
const HEADERS: [(&str, &str, &str); 21] = [
    ("Accept-Encoding", "string", "The encodings that are taken."),
    ("Age", "integer", "How long ago the value was loaded, in seconds."),
    ("Allow", "string", "The methods that the path takes."),
    ("Cache-Control", "string", "`no-store` unless other caches may keep the answer."),
    ("Cache-Status", "string", "How the cache took part (RFC 9211)."),
    ("Content-Security-Policy", "string", "A browser runs nothing of the answer."),
    ("ETag", "string", "Names this very value; send it in `If-None-Match`."),
    ("Forebay-Cache", "string", "How the cache took part: HIT, STALE, MISS, BUSY, COALESCED or BYPASS."),
    ("Forebay-Lease", "string", "The token of a lease: whoever gets it is to replace the value."),
    ("Forebay-Lease-Ms", "integer", "How long that lease lasts, in milliseconds."),
    ("Idempotent-Replayed", "string", "`true`: what an earlier request brought."),
    ("RateLimit", "string", "What is left of each window, in the style of `server.limit_headers`."),
    ("RateLimit-Policy", "string", "The windows, in the same style."),
    ("Retry-After", "integer", "When to come back, in seconds."),
    ("WWW-Authenticate", "string", "`Bearer`."),
    ("X-Accel-Buffering", "string", "`no`: proxies are to pass events on at once."),
    ("X-Content-Type-Options", "string", "`nosniff`."),
    ("X-RateLimit-Limit", "integer", "The limit of the window that binds."),
    ("X-RateLimit-Remaining", "integer", "What is left of it."),
    ("X-RateLimit-Reset", "integer", "When it is whole again, in seconds since 1970."),
    ("X-Request-Id", "string", "The id of the request, as it was sent in the same header, or a new one."),
];

/// Those that every answer has.
const ALWAYS: [&str; 3] = ["Cache-Control", "Content-Security-Policy", "X-Request-Id"];

/// Those whose absence from an answer that names them is a fault.
const CERTAIN: [&str; 10] = [
    "Accept-Encoding",
    "Age",
    "Cache-Control",
    "Content-Security-Policy",
    "ETag",
    "Idempotent-Replayed",
    "WWW-Authenticate",
    "X-Accel-Buffering",
    "X-Content-Type-Options",
    "X-Request-Id",
];

/// What all of them mean.
pub(super) fn all() -> Value {
    let described = HEADERS.map(|(name, kind, meaning)| {
        let header = json!({
            "description": meaning, "required": CERTAIN.contains(&name), "schema": { "type": kind },
        });
        (name.to_owned(), header)
    });
    Value::Object(described.into_iter().collect())
}

/// Says where the headers are described that `answer` names, and adds those that every answer has.
pub(super) fn refer(answer: &mut Value) {
    for name in ALWAYS {
        answer["headers"][name] = Value::Null;
    }
    let Some(headers) = answer["headers"].as_object_mut() else { return };
    for (name, header) in headers {
        assert!(HEADERS.iter().any(|(known, ..)| known == name), "the header {name} stands in no table");
        *header = json!({ "$ref": format!("#/components/headers/{name}") });
    }
}

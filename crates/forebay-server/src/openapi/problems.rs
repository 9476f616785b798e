//! Refusals, by the statuses of the table in `error.rs`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{headers, row, text, told};
use crate::error::{Kind, TYPES};

/// Where a policy of the server itself does not count.
const FREE: [&str; 2] = ["/livez", "/readyz"];

/// What a part of a path can be refused for.
const PARTS: [(&str, &[Kind]); 5] = [
    ("{", &[Kind::InvalidPath]),
    ("{space}", &[Kind::InvalidSpace, Kind::TooManySpaces]),
    ("{counter}", &[Kind::InvalidCounter, Kind::TooManyCounters]),
    ("{topic}", &[Kind::InvalidTopic]),
    ("{policy}", &[Kind::UnknownPolicy]),
];

/// Adds the refusals of a call: what its handler names, and what follows from its path, its body and its guard. Those
/// that several calls share are kept in `shared`.
pub(super) fn add(path: &str, call: &mut Value, is_guarded: bool, shared: &mut Value) {
    let mut by_status = BTreeMap::<u64, Vec<Value>>::new();
    let kinds = implied(path, call["requestBody"].is_object(), is_guarded);
    for kind in kinds.into_iter().map(row).chain(told(call)) {
        let of_status = by_status.entry(kind["status"].as_u64().unwrap_or_default()).or_default();
        if !of_status.contains(&kind) {
            of_status.push(kind);
        }
    }
    for (status, kinds) in by_status {
        let answer = &mut call["responses"][status.to_string()];
        refuse(answer, status, &kinds);
        if answer["content"].as_object().is_some_and(|content| content.len() == 1) {
            let names: Vec<_> = kinds.iter().map(|kind| text(&kind["name"])).collect();
            let name = names.join(".");
            shared[&name] = answer.take();
            *answer = json!({ "$ref": format!("#/components/responses/{name}") });
        }
    }
}

fn implied(path: &str, has_body: bool, is_guarded: bool) -> Vec<Kind> {
    let mut kinds = vec![Kind::InvalidQuery, Kind::Forbidden, Kind::Internal, Kind::DeadlinePassed];
    kinds.extend(PARTS.iter().filter(|(part, _)| path.contains(part)).flat_map(|(_, kinds)| *kinds));
    if has_body {
        kinds.extend([Kind::InvalidBody, Kind::TooLarge, Kind::RequestTimeout]);
    }
    if is_guarded {
        kinds.push(Kind::Unauthorized);
    }
    if !FREE.contains(&path) {
        kinds.push(Kind::QuotaExceeded);
    }
    kinds
}

/// Says that `answer` is, or may be, one of these refusals.
fn refuse(answer: &mut Value, status: u64, kinds: &[Value]) {
    answer["description"] = described(text(&answer["description"]), kinds).into();
    answer["content"]["application/problem+json"]["schema"] = refusal(status, kinds);
    name_headers(status, answer);
    headers::refer(answer);
}

/// The titles of the problems, behind what the status means otherwise.
fn described(otherwise: &str, kinds: &[Value]) -> String {
    let titles = kinds.iter().map(|kind| format!("`{}`: {}.", text(&kind["name"]), text(&kind["title"])));
    let otherwise = (!otherwise.is_empty()).then(|| otherwise.to_owned());
    otherwise.into_iter().chain(titles).collect::<Vec<_>>().join(" ")
}

fn refusal(status: u64, kinds: &[Value]) -> Value {
    let types: Vec<_> = kinds.iter().map(|kind| format!("{TYPES}{}", text(&kind["name"]))).collect();
    let mut all = vec![
        json!({ "$ref": "#/components/schemas/Problem" }),
        json!({ "properties": { "type": { "enum": types }, "status": { "const": status } } }),
    ];
    if kinds.iter().all(|kind| [row(Kind::QuotaExceeded), row(Kind::NeverFits)].contains(kind)) {
        all.push(json!({ "$ref": "#/components/schemas/Decision" }));
    }
    json!({ "allOf": all })
}

fn name_headers(status: u64, answer: &mut Value) {
    let names: &[&str] = match status {
        401 => &["WWW-Authenticate"],
        409 | 503 => &["Retry-After"],
        415 => &["Accept-Encoding"],
        429 => &[
            "Retry-After",
            "X-RateLimit-Limit",
            "X-RateLimit-Remaining",
            "X-RateLimit-Reset",
            "RateLimit",
            "RateLimit-Policy",
        ],
        _ => &[],
    };
    for name in names {
        answer["headers"][name] = Value::Null;
    }
}

/// The members that every refusal has.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "description": "A refusal (RFC 9457). Some kinds have further members.",
        "required": ["type", "title", "status", "detail", "request_id"],
        "properties": {
            "type": { "type": "string", "format": "uri", "description": "The kind of refusal." },
            "title": { "type": "string", "description": "The same for people." },
            "status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "What was wrong this time, and what to do." },
            "request_id": { "type": "string", "description": "As in `X-Request-Id`, and in the log." },
            "retry_after": { "type": "integer", "minimum": 1, "description": "As in `Retry-After`, in seconds." },
            "retry_after_ms": {
                "type": ["integer", "null"], "minimum": 0,
                "description": "The same, finer, where it is known so well.",
            },
        },
    })
}

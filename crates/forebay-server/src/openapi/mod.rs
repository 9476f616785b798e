//! The OpenAPI document. It is made of the very calls that the router serves, so that the two cannot disagree.
//!
//! What a call says of itself stands at its handler. What all calls have in common is added here: the parameters of
//! paths (`params.rs`), refusals (`problems.rs`), and what headers mean (`headers.rs`).

mod headers;
mod params;
mod problems;

use axum::{
    Extension,
    http::{HeaderValue, Uri, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::{
    config::Scope,
    error::{Kind, Problem},
    extract::Query,
};

/// By which name calls refer to the tokens.
const TOKEN: &str = "token";

const ABOUT: &str = "Forebay keeps what is costly to make, has what is missing loaded once, and limits, locks and \
                     counts. Every parameter must be known; every refusal is `application/problem+json` (RFC 9457), \
                     and its `detail` says what to do.";

/// What the groups of calls are for, in the order in which they are shown.
const TAGS: [(&str, &str); 13] = [
    ("cache", "Values by space and id."),
    ("leases", "One load for each value that is missing."),
    ("invalidation", "Many values at once."),
    ("batch", "Many single calls in one."),
    ("limits", "Whether somebody may go on."),
    ("locks", "One holder at a time."),
    ("claims", "Names that one caller takes for a time."),
    ("idempotency", "What runs once, however often it is asked for."),
    ("events", "Messages to whoever listens."),
    ("visitors", "Different visitors by the day."),
    ("figures", "What the server and its Redis do."),
    ("operations", "For operators."),
    ("health", "Whether the server runs, and should be sent requests."),
];

/// The text of the document.
#[derive(Debug, Clone)]
pub(crate) struct Document(&'static str);

impl Document {
    /// Writes the document of some groups of calls, each with the scopes of which its caller needs one.
    pub(crate) fn of(groups: impl IntoIterator<Item = (OpenApi, &'static [Scope])>) -> String {
        let mut whole = json!({ "paths": {}, "components": { "responses": {}, "schemas": {} } });
        for (api, scopes) in groups {
            let mut api = serde_json::to_value(&api).expect("a description has a JSON form");
            for (path, calls) in members(&mut api["paths"]) {
                for (method, call) in members(calls) {
                    complete(path, call, scopes, &mut whole["components"]["responses"]);
                    whole["paths"][path][method] = call.take();
                }
            }
            for (name, schema) in members(&mut api["components"]["schemas"]) {
                whole["components"]["schemas"][name] = schema.take();
            }
        }
        bodies(&mut whole);
        flattened(&mut whole);
        finish(&mut whole);
        serde_json::to_string_pretty(&whole).expect("a description has a JSON form") + "\n"
    }

    /// Has `text` served. It is made once for each process.
    pub(crate) fn new(text: String) -> Self {
        Self(text.leak())
    }
}

/// Answers what this document says: all calls, with their parameters and answers.
#[utoipa::path(
    get, path = "/openapi.json", tag = "figures",
    responses((status = 200, description = "OpenAPI 3.1", content(("application/json"))))
)]
pub(crate) async fn document(
    Extension(Document(text)): Extension<Document>,
    uri: Uri,
) -> Result<Response, Problem> {
    Query::read(&uri, &[])?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response())
}

/// Adds to a call what follows from its path, and from who may make it.
fn complete(path: &str, call: &mut Value, scopes: &[Scope], refusals: &mut Value) {
    let name = format!("{}_{}", text(&call["tags"][0]), text(&call["operationId"]));
    call["operationId"] = name.into();
    call["parameters"] = params::all(path, &call["parameters"]).into();
    if !scopes.is_empty() {
        call["security"] = scopes.iter().map(|scope| json!({ TOKEN: [scope.name()] })).collect();
    }
    for (_, answer) in members(&mut call["responses"]) {
        headers::refer(answer);
    }
    problems::add(path, call, !scopes.is_empty(), refusals);
}

/// What is only sometimes among the members of an object is described as that or nothing: as `null` it never is.
fn flattened(whole: &mut Value) {
    let schemas = whole["components"]["schemas"].clone();
    for (_, schema) in members(&mut whole["components"]["schemas"]) {
        let parts = schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten();
        for part in parts.filter(|part| part["oneOf"][1]["type"] == "null") {
            let name = text(&part["oneOf"][0]["$ref"]).rsplit('/').next().unwrap_or_default();
            part["oneOf"][1] = json!({ "not": { "required": [schemas[name]["required"][0]] } });
        }
    }
}

/// A body can be left out where nothing in it must be there: that is an empty object.
fn bodies(whole: &mut Value) {
    let schemas = whole["components"]["schemas"].clone();
    let calls = members(&mut whole["paths"]).flat_map(|(_, calls)| members(calls));
    for (_, call) in calls.filter(|(_, call)| call["requestBody"].is_object()) {
        let schema = &call["requestBody"]["content"]["application/json"]["schema"];
        let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let is_optional = match name {
            Some(name) => {
                let schema = &schemas[name];
                schema["type"] == "object"
                    && schema["required"].is_null()
                    && schema["minProperties"].is_null()
            }
            None => schema.is_null(),
        };
        call["requestBody"]["required"] = (!is_optional).into();
    }
}

fn finish(whole: &mut Value) {
    whole["openapi"] = "3.1.0".into();
    whole["info"] = json!({
        "title": "Forebay",
        "version": env!("CARGO_PKG_VERSION"),
        "description": ABOUT,
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    whole["servers"] = json!([{ "url": "/" }]);
    whole["tags"] = TAGS.map(|(name, about)| json!({ "name": name, "description": about })).into();
    whole["components"]["schemas"]["Problem"] = problems::schema();
    whole["components"]["headers"] = headers::all();
    whole["components"]["securitySchemes"] = json!({ TOKEN: {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of the server's file, which has one of the scopes that the call names. A server that \
                        knows no tokens wants none.",
    } });
}

fn members(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flat_map(Map::iter_mut)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What a call can refuse beyond what all can, as its handler says.
fn told(call: &mut Value) -> Vec<Value> {
    let told = call.as_object_mut().and_then(|call| call.remove(PROBLEMS));
    told.and_then(|told| told.as_array().cloned()).unwrap_or_default()
}

/// Where handlers say it.
const PROBLEMS: &str = "x-problems";

fn row(kind: Kind) -> Value {
    serde_json::to_value(kind).expect("a kind has a JSON form")
}

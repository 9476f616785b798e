//! What the server says of its own calls.

use std::{fs, path::Path};

use serde_json::Value;

use crate::support::{Answered, Server, Stage};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

fn document() -> Value {
    serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap()
}

/// Path, method and description of each call.
fn calls(document: &Value) -> Vec<(String, String, Value)> {
    let mut calls = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, call) in item.as_object().unwrap() {
            calls.push((path.clone(), method.clone(), call.clone()));
        }
    }
    calls
}

#[tokio::test]
async fn the_document_that_is_checked_in_is_what_a_server_says() {
    let served = Answered::to(Server::start().get("/openapi.json")).await;

    assert_eq!(served.header("content-type"), Some("application/json"));
    let checked_in = fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        served.body == checked_in,
        "{} is not what the server serves; write it anew with `cargo xtask ops`, and look at the difference",
        Path::new(FILE).display()
    );
}

#[tokio::test]
async fn every_path_of_the_docs_is_described_and_every_call_has_a_name_of_its_own() {
    let document = document();
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let named = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter_map(|code| {
        let (method, path) = code.split_once(' ')?;
        METHODS.contains(&method.to_lowercase().as_str()).then(|| path.split(['?', ' ', '[']).next().unwrap())
    });
    let named: Vec<_> =
        named.filter(|path| path.starts_with('/') && !["/", "/docs"].contains(path)).collect();
    assert!(named.len() > 20, "{named:?}");
    for path in named {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let mut names: Vec<_> = calls(&document).iter().map(|(.., call)| call["operationId"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// What `described` is, or refers to.
fn resolved<'a>(document: &'a Value, described: &'a Value) -> &'a Value {
    match described["$ref"].as_str() {
        Some(path) => document.pointer(path.trim_start_matches('#')).unwrap(),
        None => described,
    }
}

/// The address and the body that the examples of a call give.
fn example(document: &Value, path: &str, call: &Value) -> (String, Option<String>) {
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in call["parameters"].as_array().unwrap() {
        let text = match &parameter["example"] {
            Value::String(text) => text.clone(),
            Value::Null => continue,
            other => other.to_string(),
        };
        let name = parameter["name"].as_str().unwrap();
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &text),
            "query" => query.push(format!("{name}={text}")),
            _ => {}
        }
    }
    let schema = &call["requestBody"]["content"]["application/json"]["schema"];
    let given = |schema| resolved(document, schema)["example"].clone();
    let body = match (given(schema), given(&schema["items"])) {
        (Value::Null, Value::Null) => call["requestBody"].is_object().then(String::new),
        (Value::Null, item) => Some(format!("[{item}]")),
        (body, _) => Some(body.to_string()),
    };
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    (path + &query, body)
}

fn headers(call: &Value) -> Vec<(String, String)> {
    let of_headers = call["parameters"].as_array().unwrap().iter().filter(|it| it["in"] == "header");
    let given = of_headers.filter_map(|it| Some((it["name"].as_str()?, it["example"].as_str()?)));
    given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn every_example_is_answered_as_it_is_documented() {
    let document = document();
    for stage in Stage::each().await {
        for (path, method, call) in calls(&document) {
            let is_stream = call["responses"]["200"]["content"]["text/event-stream"].is_object();
            if is_stream {
                continue;
            }
            let (address, body) = example(&document, &path, &call);
            let mut request = stage.here.request(&method.to_uppercase(), &address);
            for (name, value) in headers(&call) {
                request = request.header(name, value);
            }
            let answer = Answered::to(body.into_iter().fold(request, reqwest::RequestBuilder::body)).await;
            is_documented(&document, &call, &answer);
            assert_ne!(answer.status, 400, "an example that cannot be used: {method} {address}: {answer:?}");
        }
    }
}

fn is_documented(document: &Value, call: &Value, answer: &Answered) {
    let name = &call["operationId"];
    let documented = resolved(document, &call["responses"][answer.status.to_string()]);
    assert!(documented.is_object(), "{name}: {answer:?}");
    for (header, _) in documented["headers"].as_object().unwrap() {
        let is_certain = document["components"]["headers"][header]["required"] == true;
        assert!(!is_certain || answer.header(header).is_some(), "{name}: {header}: {answer:?}");
    }
    let Some(content) = documented["content"].as_object().filter(|_| !answer.body.is_empty()) else { return };
    let kind = answer.header("content-type").unwrap();
    assert!(content.contains_key(kind) || content.contains_key("*/*"), "{name}: {kind}");
    if kind == "application/problem+json" {
        let types = &content[kind]["schema"]["allOf"][1]["properties"]["type"]["enum"];
        assert!(types.as_array().unwrap().contains(&answer.json()["type"]), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn the_pages_of_the_calls_load_nothing_from_elsewhere() {
    let server = Server::start();
    let page = Answered::to(server.get("/docs")).await;

    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let named = page.body.split(['"']).filter(|text| text.starts_with("/dashboard/"));
    let named: Vec<_> = named.collect();
    assert!(named.len() >= 4, "{named:?}");
    for file in named {
        assert_eq!(Answered::to(server.get(file)).await.status, 200, "{file}");
    }
}

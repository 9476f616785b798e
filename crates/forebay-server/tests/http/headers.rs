//! Headers of a write: what is kept, and what is refused by name.

use crate::support::{Answered, RawAnswer, Server, exchange};

const ENTRY: &str = "/v1/cache/a/b";

fn put(server: &Server, headers: &[&str]) -> RawAnswer {
    exchange(&server.address, &format!("PUT {ENTRY}?ttl_ms=60000"), headers, "value")
}

fn refused(answer: &RawAnswer, status: u16, name: &str, header: &str) {
    assert_eq!((answer.status, answer.problem().as_str()), (status, name), "{answer:?}");
    assert!(answer.body.contains(&format!("`{header}`")), "{answer:?}");
}

#[test]
fn a_content_type_is_kept_as_it_is_sent() {
    let server = Server::start();
    let longest = format!("application/{}", "a".repeat(243));
    for kept in ["text/html; charset=utf-8", "application/x-www-form-urlencoded", &longest] {
        assert_eq!(put(&server, &[&format!("content-type: {kept}")]).status, 204, "{kept}");
        let answer = exchange(&server.address, &format!("GET {ENTRY}"), &[], "");
        assert_eq!(answer.header("content-type"), Some(kept));
    }
}

#[test]
fn a_content_type_that_no_reader_could_use_is_refused() {
    let server = Server::start();
    let too_long = format!("application/{}", "a".repeat(244));
    for unfit in ["", "json", "text/", "/html", "text/html/x", "text html", "text/h\u{e4}", &too_long] {
        let answer = put(&server, &[&format!("content-type: {unfit}")]);
        refused(&answer, 400, "invalid-header", "Content-Type");
    }
    let answer = put(&server, &["content-type: a/b", "content-type: a/c"]);
    refused(&answer, 400, "invalid-header", "Content-Type");
}

#[test]
fn a_content_encoding_is_refused_as_it_is_not_kept() {
    let server = Server::start();
    for encoding in ["gzip", "identity, br", "x"] {
        let answer = put(&server, &[&format!("content-encoding: {encoding}")]);
        refused(&answer, 415, "unsupported-content-encoding", "Content-Encoding");
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
    }
    assert_eq!(put(&server, &["content-encoding: Identity"]).status, 204);
}

#[tokio::test]
async fn preconditions_are_for_reads() {
    let server = Server::start();
    for header in ["If-Match", "If-None-Match", "If-Unmodified-Since"] {
        let put = put(&server, &[&format!("{header}: *")]);
        refused(&put, 400, "invalid-header", header);
        let delete = exchange(&server.address, &format!("DELETE {ENTRY}"), &[&format!("{header}: *")], "");
        refused(&delete, 400, "invalid-header", header);
    }
    assert_eq!(Answered::to(server.get(ENTRY)).await.status, 404);
}

//! What cannot be read or done, each time told as a problem.

use std::{io::Write, net::TcpStream, time::Duration};

use crate::support::{Answered, RawAnswer, Server, exchange, is_problem};

const TOKEN: &str = "forebay-lease: 0123456789abcdef0123456789abcdef";
const ENTRY: &str = "/v1/cache/a/b";
const LEASE: &str = "/v1/cache/a/b/lease";

#[test]
fn paths_that_cannot_be_read_are_refused() {
    let server = Server::start();
    let unreadable = ["%zz", "%", "a%2", "%ff", "%C3%28", "%%41"].map(|id| format!("/v1/cache/a/{id}"));
    let empty = ["/v1/cache/a/", "/v1/cache//b", "/v1/cache/a//lease", "//livez", "/livez/", "/none/%zz"];

    for path in unreadable.iter().map(String::as_str).chain(empty) {
        for method in ["GET", "PUT", "PATCH"] {
            is_problem(&exchange(&server.address, &format!("{method} {path}"), &[], ""), 400, "invalid-path");
        }
    }
}

#[test]
fn unknown_paths_and_methods_are_problems_too() {
    let server = Server::start();
    for path in [
        "/dashboard/none.js",
        "/v1",
        "/v1/cache/a",
        "/v1/cache/a/b/lease/c",
        "/v2/cache/a/b",
        "/V1/cache/a/b",
    ] {
        is_problem(&exchange(&server.address, &format!("GET {path}"), &[], ""), 404, "not-found");
    }
    let allowed = [
        ("POST", ENTRY, "GET,HEAD,PUT,DELETE"),
        ("GET", LEASE, "POST,PUT,PATCH,DELETE"),
        ("PUT", "/livez", "GET,HEAD"),
    ];
    for (method, path, allow) in allowed {
        let answer = exchange(&server.address, &format!("{method} {path}"), &[], "");
        is_problem(&answer, 405, "method-not-allowed");
        let detail = "the path does not take this method; the header `Allow` names those that it takes";
        assert_eq!(answer.json()["detail"], detail);
        assert_eq!(answer.header("allow"), Some(allow));
    }
}

#[test]
fn space_names_are_the_librarys_to_judge() {
    let server = Server::start();
    for space in ["A", "a%20b", "%C3%A4", "a%2Fb", &"a".repeat(65)] {
        let answer = exchange(&server.address, &format!("GET /v1/cache/{space}/b"), &[], "");
        is_problem(&answer, 400, "invalid-space");
    }
}

#[test]
fn queries_are_refused_by_the_name_of_the_parameter() {
    let server = Server::start();
    let refused = [
        ("PUT", ENTRY, "ttl=1", "ttl"),
        ("PUT", ENTRY, "ttl_ms=1&tag=", "tag"),
        ("GET", ENTRY, "tag=a", "tag"),
        ("PUT", ENTRY, "absent=1&ttl_ms=1&tag=a", "tag"),
        ("PUT", ENTRY, "ttl_ms=", "ttl_ms"),
        ("PUT", ENTRY, "ttl_ms=1&ttl_ms=2", "ttl_ms"),
        ("PUT", ENTRY, "ttl_ms=0", "ttl_ms"),
        ("PUT", ENTRY, "ttl_ms=-1", "ttl_ms"),
        ("PUT", ENTRY, "ttl_ms=1.5", "ttl_ms"),
        ("PUT", ENTRY, "ttl_ms=1&stale_ms=1h", "stale_ms"),
        ("PUT", ENTRY, "absent=true&ttl_ms=1", "absent"),
        ("PUT", ENTRY, "absent=1&ttl_ms=1&stale_ms=1", "stale_ms"),
        ("PUT", ENTRY, "ttl_ms=%zz", "ttl_ms"),
        ("GET", ENTRY, "a=1", "a"),
        ("DELETE", ENTRY, "failed=1", "failed"),
        ("POST", LEASE, "wait_ms=1", "wait_ms"),
        ("DELETE", LEASE, "failed=0", "failed"),
        ("PATCH", LEASE, "lease_ms=1", "lease_ms"),
        ("GET", "/readyz", "verbose=0", "verbose"),
        ("GET", "/livez", "a=1", "a"),
    ];
    for (method, path, query, parameter) in refused {
        let headers: &[&str] = if path == LEASE { &[TOKEN] } else { &[] };
        let answer = exchange(&server.address, &format!("{method} {path}?{query}"), headers, "");
        is_problem(&answer, 400, "invalid-query");
        assert!(answer.body.contains(&format!("`{parameter}`")), "{query}: {answer:?}");
    }
}

#[test]
fn bodies_are_refused_by_the_name_of_the_member() {
    let server = Server::start();
    let refused = [
        ("POST", r#"{"wait":1}"#, "`wait`"),
        ("POST", r#"{"wait_ms":"1"}"#, "`wait_ms`"),
        ("POST", r#"{"wait_ms":1.5}"#, "`wait_ms`"),
        ("POST", r#"{"wait_ms":-1}"#, "`wait_ms`"),
        ("POST", r#"{"wait_ms":30001}"#, "30000"),
        ("POST", r#"{"lease_ms":0}"#, "`lease_ms`"),
        ("POST", r#"{"lease_ms":30001}"#, "30000"),
        ("POST", r#"{"wait_ms":1,"wait_ms":1}"#, "wait_ms"),
        ("POST", "[1000,5000]", "object"),
        ("POST", "null", "object"),
        ("POST", "{", "EOF"),
        ("POST", "{} {}", "trailing"),
        ("PATCH", r#"{"wait_ms":1}"#, "`wait_ms`"),
        ("PATCH", r#"{"lease_ms":0}"#, "`lease_ms`"),
    ];
    for (method, body, named) in refused {
        let answer = exchange(&server.address, &format!("{method} {LEASE}"), &[TOKEN], body);
        is_problem(&answer, 400, "invalid-body");
        assert!(answer.body.contains(named), "{body}: {answer:?}");
    }
    let answer = exchange(&server.address, &format!("PUT {ENTRY}?absent=1&ttl_ms=1000"), &[], "something");
    is_problem(&answer, 400, "invalid-body");
    let answer = exchange(&server.address, &format!("POST {LEASE}"), &[], &" ".repeat(64 * 1024 + 1));
    is_problem(&answer, 413, "too-large");
}

#[test]
fn a_lease_is_named_by_its_header_and_only_where_it_belongs() {
    let server = Server::start();
    for method in ["PUT", "PATCH", "DELETE"] {
        for headers in [&[][..], &["forebay-lease: abc"], &["forebay-lease:"], &[TOKEN, TOKEN]] {
            let answer = exchange(&server.address, &format!("{method} {LEASE}"), headers, "");
            is_problem(&answer, 400, "invalid-header");
        }
    }
    for method in ["GET", "PUT", "DELETE"] {
        let answer = exchange(&server.address, &format!("{method} {ENTRY}"), &[TOKEN], "");
        is_problem(&answer, 400, "invalid-header");
    }
}

#[test]
fn a_lease_that_nobody_holds_is_lost() {
    let server = Server::start();
    for line in [format!("PUT {LEASE}?ttl_ms=1000"), format!("PATCH {LEASE}"), format!("DELETE {LEASE}")] {
        is_problem(&exchange(&server.address, &line, &[TOKEN], ""), 409, "lease-lost");
    }
}

#[test]
fn a_request_keeps_the_id_that_its_client_gave_if_it_is_fit_for_a_log() {
    let server = Server::start();
    let with_id = |id: &str| {
        let answer = exchange(&server.address, "GET /none", &[&format!("x-request-id: {id}")], "");
        is_problem(&answer, 404, "not-found");
        answer.header("x-request-id").unwrap().to_owned()
    };

    assert_eq!(with_id("abc-123"), "abc-123");
    for unfit in ["", "a b", "\u{e4}", &"x".repeat(129)] {
        let made = with_id(unfit);
        assert!(made.len() == 32 && made.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made}");
    }
}

#[test]
fn a_body_that_takes_too_long_ends() {
    let server = Server::with("[server]\nrequest_deadline = \"300ms\"");
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!("PUT {ENTRY}?ttl_ms=1000 HTTP/1.1\r\nhost: localhost\r\nconnection: close");
    stream.write_all(format!("{head}\r\ncontent-length: 10\r\n\r\nhalf").as_bytes()).unwrap();

    is_problem(&RawAnswer::read(&mut stream), 408, "request-timeout");
}

#[test]
fn a_body_far_too_large_is_refused_before_it_arrives() {
    let server = Server::start();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    let head = format!("PUT {ENTRY}?ttl_ms=1000 HTTP/1.1\r\nhost: localhost\r\nconnection: close");
    stream.write_all(format!("{head}\r\ncontent-length: 16777217\r\n\r\nhalf").as_bytes()).unwrap();

    is_problem(&RawAnswer::read(&mut stream), 413, "too-large");
}

#[tokio::test]
async fn what_is_shown_of_what_was_sent_has_a_bound_and_the_reason_is_still_there() {
    let server = Server::start();
    let long = "ü".repeat(20_000);
    let asked = [
        (server.get(&format!("/v1/cache/a/b?{}=1", "%C3%BC".repeat(10_000))), "is unknown"),
        (server.post("/v1/invalidate/a", format!(r#"{{"{long}": 1}}"#)), "unknown field"),
        (server.post("/v1/batch/cache/a", format!(r#"{{"{long}": []}}"#)), "is no call"),
        (
            server.post(&format!("/v1/limits/{}", "a".repeat(8_000)), r#"{"subject": "a"}"#),
            "there is no policy",
        ),
    ];
    for (request, reason) in asked {
        let answer = Answered::to(request).await;
        assert!((400..500).contains(&answer.status), "{answer:?}");
        assert!(answer.body.len() < 2_000 && answer.body.contains(reason), "{reason}: {answer:?}");
    }
}

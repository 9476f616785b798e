//! Calls of locks, claims, idempotency keys and counters that cannot be done, each told as a problem.

use crate::support::{Server, exchange, is_problem};

const TOKEN: &str = "forebay-token: 0123456789abcdef0123456789abcdef";
const LOCK: &str = "/v1/locks/a";
const CLAIM: &str = "/v1/claims/a";
const KEY: &str = "/v1/idempotency/a";
const COUNTER: &str = "/v1/unique/a";
const TODAY: &str = "/analytics/uv/today";
const WEEKLY: &str = "/analytics/uv/weekly";

#[test]
fn names_must_be_there_and_readable() {
    let server = Server::start();
    for kind in ["locks", "claims", "idempotency", "unique"] {
        for name in ["", "%zz", "%ff"] {
            let answer = exchange(&server.address, &format!("POST /v1/{kind}/{name}"), &[], "");
            is_problem(&answer, 400, "invalid-path");
        }
        for path in [format!("/v1/{kind}"), format!("/v1/{kind}/a/b")] {
            is_problem(&exchange(&server.address, &format!("POST {path}"), &[], ""), 404, "not-found");
        }
    }
}

#[test]
fn methods_that_a_call_does_not_take_are_refused() {
    let server = Server::start();
    let allowed = [
        ("GET", LOCK, "POST,PATCH,DELETE"),
        ("PATCH", CLAIM, "POST,DELETE"),
        ("GET", KEY, "POST,PUT,PATCH,DELETE"),
        ("DELETE", COUNTER, "POST,GET,HEAD"),
        ("POST", TODAY, "GET,HEAD"),
        ("POST", WEEKLY, "GET,HEAD"),
    ];
    for (method, path, allow) in allowed {
        let answer = exchange(&server.address, &format!("{method} {path}"), &[], "");
        is_problem(&answer, 405, "method-not-allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{path}");
    }
}

#[test]
fn a_token_goes_into_its_header_once_and_only_where_it_is_taken() {
    let server = Server::start();
    let under_a_token =
        [("PATCH", LOCK), ("DELETE", LOCK), ("DELETE", CLAIM), ("PUT", KEY), ("PATCH", KEY), ("DELETE", KEY)];
    let upper = TOKEN.to_uppercase();
    for (method, path) in under_a_token {
        for headers in [&[][..], &["forebay-token: abc"], &["forebay-token:"], &[TOKEN, TOKEN], &[&upper]] {
            let answer = exchange(&server.address, &format!("{method} {path}"), headers, "");
            is_problem(&answer, 400, "invalid-header");
            assert!(answer.body.contains("`Forebay-Token`"), "{answer:?}");
        }
    }
    for (path, body) in [(LOCK, ""), (CLAIM, r#"{"ttl_ms":1}"#), (KEY, r#"{"fingerprint":"a"}"#)] {
        let answer = exchange(&server.address, &format!("POST {path}"), &[TOKEN], body);
        is_problem(&answer, 400, "invalid-header");
    }
}

#[test]
fn a_token_under_which_nothing_is_held_does_nothing() {
    let server = Server::start();
    for line in [
        format!("PATCH {LOCK}"),
        format!("DELETE {LOCK}"),
        format!("DELETE {CLAIM}"),
        format!("PUT {KEY}"),
        format!("PATCH {KEY}"),
        format!("DELETE {KEY}"),
    ] {
        is_problem(&exchange(&server.address, &line, &[TOKEN], ""), 409, "not-the-holder");
    }
}

#[test]
fn preconditions_and_encodings_are_refused() {
    let server = Server::start();
    for line in
        [format!("DELETE {LOCK}"), format!("DELETE {CLAIM}"), format!("PUT {KEY}"), format!("DELETE {KEY}")]
    {
        let answer = exchange(&server.address, &line, &[TOKEN, "if-match: \"a\""], "");
        is_problem(&answer, 400, "invalid-header");
    }
    let put = format!("PUT {KEY}");
    let answer = exchange(&server.address, &put, &[TOKEN, "content-encoding: gzip"], "a");
    is_problem(&answer, 415, "unsupported-content-encoding");
    let answer = exchange(&server.address, &put, &[TOKEN, "content-type: text"], "a");
    is_problem(&answer, 400, "invalid-header");
}

#[test]
fn bodies_are_refused_by_the_name_of_the_member() {
    let server = Server::start();
    let refused = [
        ("POST", LOCK, r#"{"ttl":1}"#, "`ttl`"),
        ("POST", LOCK, r#"{"ttl_ms":"1"}"#, "`ttl_ms`"),
        ("POST", LOCK, r#"{"ttl_ms":99}"#, "`ttl_ms`"),
        ("POST", LOCK, r#"{"ttl_ms":86400001}"#, "100 to 86400000"),
        ("POST", LOCK, r#"{"ttl_ms":0,"wait_ms":5}"#, "`ttl_ms` is 0; give 100 to"),
        ("POST", LOCK, r#"{"ttl_ms":-1}"#, "`ttl_ms`"),
        ("POST", LOCK, r#"{"wait_ms":31501}"#, "31500"),
        ("POST", LOCK, r#"{"wait_ms":18446744073709551615}"#, "31500"),
        ("POST", LOCK, r#"{"token":"abc"}"#, "`token`"),
        ("POST", LOCK, r#"{"token":5}"#, "`token`"),
        ("POST", LOCK, "[]", "object"),
        ("PATCH", LOCK, r#"{"wait_ms":1}"#, "`wait_ms`"),
        ("PATCH", LOCK, r#"{"ttl_ms":99}"#, "`ttl_ms`"),
        ("POST", CLAIM, "", "`ttl_ms` is missing"),
        ("POST", CLAIM, r#"{"ttl_ms":0}"#, "`ttl_ms` is 0; give 1 to 315360000000"),
        ("POST", CLAIM, r#"{"ttl_ms":18446744073709551615}"#, "`ttl_ms`"),
        ("POST", CLAIM, r#"{"ttl_ms":1,"wait_ms":1}"#, "`wait_ms`"),
        ("POST", CLAIM, r#"{"ttl_ms":1,"token":""}"#, "`token`"),
        ("POST", KEY, "{}", "`fingerprint` is missing"),
        ("POST", KEY, r#"{"fingerprint":""}"#, "`fingerprint` is empty"),
        ("POST", KEY, r#"{"fingerprint":5}"#, "`fingerprint`"),
        ("POST", KEY, r#"{"fingerprint":"a","lease_ms":99}"#, "`lease_ms`"),
        (
            "POST",
            KEY,
            r#"{"fingerprint":"a","lease_ms":2000,"keep_ms":1000}"#,
            "100 to 1000, the key's `keep_ms`",
        ),
        ("POST", KEY, r#"{"fingerprint":"a","keep_ms":0}"#, "`keep_ms` is 0; give 100 to 315360000000"),
        ("POST", KEY, r#"{"fingerprint":"a","keep_ms":18446744073709551615}"#, "`keep_ms`"),
        ("PATCH", KEY, r#"{"lease_ms":18446744073709551615}"#, "100 to 315360000000"),
        ("POST", KEY, r#"{"fingerprint":"a","owner":"abc"}"#, "`owner`"),
        ("POST", KEY, r#"{"fingerprint":"a","on_indeterminate":"again"}"#, "`rerun`"),
        ("PATCH", KEY, r#"{"lease_ms":99}"#, "`lease_ms`"),
        ("PATCH", KEY, r#"{"keep_ms":1}"#, "`keep_ms`"),
        ("POST", COUNTER, "", "`ids` is missing"),
        ("POST", COUNTER, r#"{"ids":[]}"#, "1 to 10000"),
        ("POST", COUNTER, r#"{"ids":["a",""]}"#, "`ids[1]`"),
        ("POST", COUNTER, r#"{"ids":["a",5]}"#, "`ids[1]`"),
        ("POST", COUNTER, r#"{"ids":"a"}"#, "`ids`"),
        ("POST", COUNTER, r#"{"ids":["a"],"date":"2026-05-13"}"#, "`date`"),
        ("POST", COUNTER, r#"["a"]"#, "object"),
    ];
    for (method, path, body, named) in refused {
        let headers: &[&str] = if method == "PATCH" { &[TOKEN] } else { &[] };
        let answer = exchange(&server.address, &format!("{method} {path}"), headers, body);
        is_problem(&answer, 400, "invalid-body");
        assert!(answer.body.contains(named), "{path} {body}: {answer:?}");
    }
}

#[test]
fn so_many_ids_of_such_a_length_can_be_counted_at_once() {
    let server = Server::start();
    let post = |ids: Vec<String>| {
        let body = serde_json::json!({ "ids": ids }).to_string();
        exchange(&server.address, &format!("POST {COUNTER}"), &[], &body)
    };
    assert_eq!(post((0..10_000).map(|id| id.to_string()).collect()).status, 204);
    assert_eq!(post(vec!["a".repeat(1024)]).status, 204);
    is_problem(&post((0..10_001).map(|id| id.to_string()).collect()), 400, "invalid-body");
    is_problem(&post(vec!["a".repeat(1025)]), 400, "invalid-body");
    is_problem(&post(vec!["a".repeat(1000); 1100]), 413, "too-large");
}

#[test]
fn queries_are_refused_by_the_name_of_the_parameter() {
    let server = Server::start();
    let refused = [
        ("POST", LOCK, "wait_ms=1", "`wait_ms`"),
        ("DELETE", LOCK, "a=1", "`a`"),
        ("PATCH", LOCK, "ttl_ms=1", "`ttl_ms`"),
        ("POST", CLAIM, "ttl_ms=1", "`ttl_ms`"),
        ("DELETE", CLAIM, "a=1", "`a`"),
        ("POST", KEY, "a=1", "`a`"),
        ("PUT", KEY, "a=1", "`a`"),
        ("PATCH", KEY, "a=1", "`a`"),
        ("DELETE", KEY, "a=1", "`a`"),
        ("POST", COUNTER, "days=1", "`days`"),
        ("GET", COUNTER, "days=0", "from 1 to 8"),
        ("GET", COUNTER, "days=9", "from 1 to 8"),
        ("GET", COUNTER, "days=+1", "from 1 to 8"),
        ("GET", COUNTER, "days=99999999999", "from 1 to 8"),
        ("GET", COUNTER, "days=1&days=1", "`days`"),
        ("GET", COUNTER, "days=", "`days`"),
        ("GET", COUNTER, "days=1&date=2026-05-13", "`date`"),
        ("GET", COUNTER, "date=yesterday", "2026-05-13"),
        ("GET", COUNTER, "date=20260513", "2026-05-13"),
        ("GET", COUNTER, "date=2026-02-30", "2026-05-13"),
        ("GET", COUNTER, "date=2026-05-13T10:00", "2026-05-13"),
        ("GET", COUNTER, "date=1999-05-13", "8"),
        ("GET", TODAY, "days=1", "`days`"),
        ("GET", WEEKLY, "counter=", "`counter`"),
    ];
    for (method, path, query, named) in refused {
        let headers: &[&str] = if method == "POST" { &[] } else { &[TOKEN] };
        let answer = exchange(&server.address, &format!("{method} {path}?{query}"), headers, "");
        is_problem(&answer, 400, "invalid-query");
        assert!(answer.body.contains(named), "{path}?{query}: {answer:?}");
    }
}

#[test]
fn counter_names_are_the_librarys_to_judge() {
    let server = Server::start();
    for name in ["A", "a%20b", "%C3%A4", "a%2Fb", &"a".repeat(65)] {
        for line in [format!("GET /v1/unique/{name}"), format!("GET {TODAY}?counter={name}")] {
            is_problem(&exchange(&server.address, &line, &[], ""), 400, "invalid-counter");
        }
    }
}

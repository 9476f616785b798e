//! Ids of every kind, each a key of its own.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::support::{Server, exchange};

#[test]
fn ids_of_every_kind_are_kept_apart() {
    let server = Server::start();
    let long = ["x".repeat(1024), "x".repeat(1023) + "y"];
    let mut ids = vec!["{", "}", "{}", ":", "*", "%", "%25", "%~", "/", "a/b", "a%2Fb", "lease", ".", ".."];
    ids.extend(["ä", "日本", "a b", " ", "+", "\0", "\r\n", "\u{7f}", "\"", "a?b#c", "~", "A", "a"]);
    ids.extend(long.iter().map(String::as_str));
    let path = |id: &str| format!("/v1/cache/ids/{}", utf8_percent_encode(id, NON_ALPHANUMERIC));

    for (number, id) in ids.iter().enumerate() {
        let line = format!("PUT {}?ttl_ms=60000", path(id));
        assert_eq!(exchange(&server.address, &line, &[], &number.to_string()).status, 204, "{id:?}");
    }
    for (number, id) in ids.iter().enumerate() {
        let answer = exchange(&server.address, &format!("GET {}", path(id)), &[], "");
        assert_eq!(answer.body, number.to_string(), "{id:?}");
    }
}

#[test]
fn the_spelling_of_an_id_does_not_matter() {
    let server = Server::start();
    exchange(&server.address, "PUT /v1/cache/ids/a%62%C3%A4:*?ttl_ms=60000", &[], "value");

    for spelling in ["ab%c3%a4%3A%2a", "%61b\u{e4}:*"] {
        let answer = exchange(&server.address, &format!("GET /v1/cache/%69ds/{spelling}"), &[], "");
        assert_eq!(answer.body, "value", "{spelling}");
    }
}

//! What pages of strangers may have a browser on this machine ask: nothing, where no token is needed.

use sha2::{Digest, Sha256};

use crate::support::{RawAnswer, Server, exchange_as};

const POST: &str = "POST /v1/claims/a";
const BODY: &str = r#"{"ttl_ms": 60000}"#;

fn ask(server: &Server, host: &str, line: &str, headers: &[&str]) -> RawAnswer {
    exchange_as(&server.address, host, line, headers, if line.starts_with("POST") { BODY } else { "" })
}

#[test]
fn a_page_of_another_origin_changes_nothing() {
    let server = Server::start();
    let foreign = [
        &["sec-fetch-site: cross-site"][..],
        &["sec-fetch-site: same-site"],
        &["origin: https://elsewhere.example"],
        &["origin: null"],
        &["sec-fetch-site: cross-site", "origin: http://localhost"],
    ];
    for headers in foreign {
        let answer = ask(&server, "localhost", POST, headers);
        assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"), "{headers:?}");
    }
    let own = ask(&server, "localhost", POST, &["origin: http://localhost", "sec-fetch-site: same-origin"]);
    assert_eq!(own.status, 201);
}

#[test]
fn the_own_page_is_known_by_its_origin_where_a_browser_says_no_more() {
    let server = Server::start();
    let place = server.address.as_str();
    assert_eq!(ask(&server, place, POST, &[&format!("origin: http://{place}")]).status, 201);
}

#[test]
fn a_link_from_elsewhere_may_be_followed() {
    let server = Server::start();
    assert_eq!(ask(&server, "localhost", "GET /", &["sec-fetch-site: cross-site"]).status, 200);
}

#[test]
fn a_name_that_leads_to_this_machine_is_not_its_name() {
    let server = Server::start();
    for host in
        ["rebound.example", "rebound.example:7340", "localhost.rebound.example", "127.0.0.1.nip.example", "@"]
    {
        let answer = ask(&server, host, "GET /metrics", &[]);
        assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"), "{host}");
    }
    for host in ["localhost:7340", "LOCALHOST", "forebay.localhost", "127.0.0.1:7340", "[::1]:7340", "[::1]"]
    {
        assert_eq!(ask(&server, host, "GET /metrics", &[]).status, 200, "{host}");
    }
}

#[test]
fn whoever_needs_a_token_is_not_asked_where_it_comes_from() {
    let hash = hex::encode(Sha256::digest("secret"));
    let settings =
        format!("[auth]\ntokens = [{{ name = \"web\", sha256 = \"{hash}\", scopes = [\"data\"] }}]");
    let server = Server::with(&settings);
    let headers =
        ["sec-fetch-site: cross-site", "origin: https://app.example", "authorization: Bearer secret"];
    assert_eq!(ask(&server, "forebay.internal", POST, &headers).status, 201);
}

#[test]
fn what_is_stored_runs_nowhere_in_the_name_of_the_server() {
    let server = Server::start();
    let page = "<script>alert(1)</script>";
    let put = "PUT /v1/cache/a/b?ttl_ms=60000";
    let stored = exchange_as(&server.address, "localhost", put, &["content-type: text/html"], page);
    assert_eq!(stored.status, 204);
    let answer = ask(&server, "localhost", "GET /v1/cache/a/b", &[]);
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

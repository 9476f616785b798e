//! What no server answers, or none lets the caller do.

use std::fs;

use axum::{Router, http::StatusCode};
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::net::TcpListener;

use super::{Said, ask_as, blocking};
use crate::support::{Server, run};

/// Verbs that ask a server, each with all that it needs.
const ASKING: [&[&str]; 3] = [
    &["inspect", "catalog", "p-001"],
    &["invalidate", "catalog", "--matching", "p*"],
    &["unlock", "plan:42"],
];

#[test]
fn where_nothing_listens_it_is_said_what_to_start() {
    for arguments in ASKING {
        // Nothing listens on port 1.
        let said = Said::of(&run(arguments, &[("FOREBAY_SERVER", "http://127.0.0.1:1")], None));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
        for named in ["http://127.0.0.1:1 ", "start a server with `forebay`", "--server", "FOREBAY_SERVER"] {
            assert!(said.err.contains(named), "{named}: {}", said.err);
        }
    }
}

#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_server() {
    for (kind, told) in [
        ("shutting-down", "A title: a detail"),
        ("redis-unavailable", "A title: a detail"),
        ("load-failed", "a load of it failed a moment ago"),
    ] {
        let url = format!("https://forebay.dev/problems/{kind}");
        let problem = json!({ "type": url, "title": "A title", "detail": "a detail" });
        let refuse = move || async move { (StatusCode::SERVICE_UNAVAILABLE, problem.to_string()) };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, Router::new().fallback(refuse)).await });
        let said = blocking(move || {
            let ids = NamedTempFile::new().unwrap();
            fs::write(ids.path(), "a\n").unwrap();
            let arguments = [
                "warm",
                "catalog",
                "--origin",
                "http://127.0.0.1:1/{id}",
                "--ids",
                ids.path().to_str().unwrap(),
            ];
            Said::of(&run(&arguments, &[("FOREBAY_SERVER", &place)], None))
        })
        .await;
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.contains(&format!("  a: {told}\n")), "{kind}: {said:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_told_with_how_long_that_was_waited_for() {
    // It takes connections, and nothing else.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let said =
        blocking(move || Said::of(&run(&["inspect", "a", "b"], &[("FOREBAY_SERVER", &place)], None))).await;
    assert!(said.code == Some(1) && said.err.contains("has not answered within 5.0 s"), "{said:?}");
}

#[test]
fn what_is_no_server_is_wrong_usage() {
    let said = Said::of(&run(&["inspect", "a", "b", "--server", "redis://127.0.0.1"], &[], None));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("--server") && said.err.contains("http://127.0.0.1:7340"), "{}", said.err);
}

#[test]
fn a_password_for_a_server_is_refused_and_not_told() {
    for server in
        ["http://:hush@127.0.0.1", "http://me:hush@127.0.0.1", "redis://:hush@127.0.0.1", "me:hush@a b"]
    {
        let said = Said::of(&run(&["inspect", "a", "b", "--server", server], &[], None));
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(!said.err.contains("hush"), "{}", said.err);
        let help = Said::of(&run(&["inspect", "--help"], &[("FOREBAY_SERVER", server)], None));
        assert!(!help.out.contains("hush"), "{}", help.out);
    }
}

#[test]
fn a_token_comes_from_the_variable_and_must_have_the_scope() {
    let hash = |token: &str| hex::encode(Sha256::digest(token));
    let server = Server::with(&format!(
        "[auth]\ntokens = [\n  {{ name = \"web\", sha256 = \"{}\", scopes = [\"data\", \"read\"] }},\n  \
         {{ name = \"page\", sha256 = \"{}\", scopes = [\"ops\"] }},\n]\n",
        hash("web"),
        hash("page"),
    ));
    for arguments in ASKING {
        for (token, named) in [("", "FOREBAY_TOKEN"), ("other", "FOREBAY_TOKEN"), ("web", "`ops`")] {
            let said = ask_as(&server, token, arguments);
            assert_eq!(said.code, Some(1), "{said:?}");
            assert!(said.err.contains(named), "{named}: {}", said.err);
        }
        assert_eq!(ask_as(&server, "page", arguments).code, Some(0));
        let said = ask_as(&server, "no token\n", arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
    }
}

#[test]
fn flags_of_the_server_before_another_verb_are_refused() {
    let said = Said::of(&run(&["--listen", "127.0.0.1:0", "inspect", "a", "b"], &[], None));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("--listen") && said.err.contains("serve"), "{}", said.err);
}

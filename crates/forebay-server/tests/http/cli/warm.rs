//! `forebay warm`.

use std::{
    fs,
    future::pending,
    io::Write,
    process::{Child, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{Router, http::StatusCode, routing::post};
use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::{net::TcpListener, time::sleep};

use super::{Said, blocking, origin::Origin, terminal::now};
use crate::support::{Answered, Server, command};

const SETTINGS: &str =
    "[cache.spaces.catalog]\ntime_to_live = \"1h\"\nabsent_for = \"1m\"\nmax_bytes = 1000\n";

/// Begins to warm ids from the standard input.
fn begin(server: &Server, origin: &Origin, ids: &[&str], arguments: &[&str]) -> Child {
    begin_in("catalog", &place(server), origin, ids, arguments)
}

fn begin_in(space: &str, place: &str, origin: &Origin, ids: &[&str], arguments: &[&str]) -> Child {
    let mut command = command();
    command.args(["warm", space, "--origin", &origin.template()]).args(arguments);
    command.env("FOREBAY_SERVER", place);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ids.join("\n").as_bytes()).unwrap();
    child
}

fn place(server: &Server) -> String {
    format!("http://{}", server.address)
}

async fn ended(child: Child) -> Said {
    Said::of(&blocking(|| child.wait_with_output().unwrap()).await)
}

async fn warm(server: &Server, origin: &Origin, ids: &[&str], arguments: &[&str]) -> Said {
    ended(begin(server, origin, ids, arguments)).await
}

fn counts(told: &Value) -> [u64; 5] {
    ["loaded", "absent", "fresh", "before", "failed"].map(|member| told[member].as_u64().unwrap())
}

#[tokio::test]
async fn what_is_missing_is_loaded_and_what_is_fresh_is_not() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let ids = ["a", "b c/d", "", "  e  "];
    let said = warm(&server, &origin, &ids, &["--json"]).await;
    assert_eq!((said.code, counts(&said.json())), (Some(0), [3, 0, 0, 0, 0]), "{said:?}");
    let got = Answered::to(server.get("/v1/cache/catalog/b%20c%2Fd")).await;
    assert_eq!(
        (got.status, got.body.as_str(), got.header("content-type")),
        (200, "value of b c/d", Some("text/plain"))
    );
    let said = warm(&server, &origin, &ids, &[]).await;
    assert_eq!((said.code, said.out.as_str()), (Some(0), "catalog: 3 fresh already\n"));
    assert!(origin.calls().values().all(|calls| *calls == 1), "{:?}", origin.calls());
}

#[tokio::test]
async fn ids_come_through_any_pipe_and_none_is_lost() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let said = warm(&server, &origin, &["a", "b"], &["--ids", "/dev/stdin", "--json"]).await;
    assert_eq!((said.code, counts(&said.json())), (Some(0), [2, 0, 0, 0, 0]), "{said:?}");

    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("ids");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let running = begin(&server, &origin, &[], &["--ids", pipe.to_str().unwrap(), "--json"]);
    // Opens once somebody reads.
    blocking(move || fs::write(pipe, "c\nd\n").unwrap()).await;
    let said = ended(running).await;
    assert_eq!((said.code, counts(&said.json())), (Some(0), [2, 0, 0, 0, 0]), "{said:?}");
}

#[tokio::test]
async fn what_is_done_in_one_space_is_not_done_in_another() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let done = NamedTempFile::new().unwrap();
    let resume = ["--resume", done.path().to_str().unwrap(), "--ttl", "1m", "--json"];
    for (space, counted) in
        [("catalog", [2, 0, 0, 0, 0]), ("other", [2, 0, 0, 0, 0]), ("other", [0, 0, 0, 2, 0])]
    {
        let said = ended(begin_in(space, &place(&server), &origin, &["a", "b c"], &resume)).await;
        assert_eq!((said.code, counts(&said.json())), (Some(0), counted), "{space}: {said:?}");
    }
}

#[tokio::test]
async fn failures_are_counted_and_told_and_stop_nothing() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let said = warm(&server, &origin, &["none", "broken", "large", "a"], &[]).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    for named in [
        "1 loaded",
        "3 ids failed:",
        "none: the origin has none",
        "broken: the origin has answered 500",
        "large: ",
        "at most 1000 bytes",
    ] {
        assert!(said.out.contains(named), "{named}: {}", said.out);
    }
    // Nobody is kept waiting by what has failed.
    let asked = Answered::to(server.post("/v1/cache/catalog/broken/lease", r#"{"wait_ms": 0}"#)).await;
    assert_eq!(asked.status, 201, "{asked:?}");
}

#[tokio::test]
async fn that_there_is_nothing_is_remembered_if_that_is_wanted() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let said = warm(&server, &origin, &["none-1"], &["--absent", "--json"]).await;
    assert_eq!((said.code, counts(&said.json())), (Some(0), [0, 1, 0, 0, 0]), "{said:?}");
    assert_eq!(
        Answered::to(server.get("/v1/cache/catalog/none-1")).await.problem(),
        (404, "cached-absence".into())
    );
}

#[tokio::test]
async fn the_pace_is_kept_and_so_is_the_number_of_those_under_way() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    let ids: Vec<_> = (0..21).map(|n| format!("n-{n}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let began = now();
    let said = warm(&server, &origin, &ids, &["--rate", "20", "--ttl", "5m"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(began.elapsed() >= Duration::from_millis(990), "{:?}", began.elapsed());

    let held = Origin::answering(0).await;
    let ids: Vec<_> = (0..20).map(|n| format!("m-{n}")).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let running = begin(&server, &held, &ids, &["--rate", "1000", "--concurrency", "3"]);
    while held.most() < 3 {
        sleep(Duration::from_millis(10)).await;
    }
    held.let_go(20);
    assert_eq!((ended(running).await.code, held.most()), (Some(0), 3));
}

#[tokio::test]
async fn a_renewal_that_hangs_is_made_again_before_the_lease_has_ended() {
    let (origin, renewals) = (Origin::answering(0).await, Arc::new(Mutex::new(Vec::new())));
    let (seen, let_go) = (renewals.clone(), origin.clone());
    let renew = async move || {
        seen.lock().unwrap().push(now());
        if seen.lock().unwrap().len() == 1 {
            pending::<()>().await;
        }
        let_go.let_go(1);
    };
    let granted = async || (StatusCode::CREATED, r#"{"lease": "0123", "lease_ms": 2000}"#);
    let lease = post(granted).patch(renew).put(async || StatusCode::NO_CONTENT);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/cache/catalog/a/lease", lease);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let said = ended(begin_in("catalog", &place, &origin, &["a"], &[])).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    let renewals = renewals.lock().unwrap();
    // A quarter of the lease for the one that hangs, and another until the next: any other call is waited for longer.
    assert!(renewals[1] - renewals[0] < Duration::from_secs(4), "{renewals:?}");
}

/// What answers every request of a lease in the same way, and counts them.
async fn answering(status: StatusCode, body: &'static str) -> (String, Arc<AtomicUsize>) {
    let (asked, listener) = (Arc::<AtomicUsize>::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let (place, counted) = (format!("http://{}", listener.local_addr().unwrap()), asked.clone());
    let answer = async move || {
        counted.fetch_add(1, SeqCst);
        (status, body)
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    (place, asked)
}

#[tokio::test]
async fn a_server_that_would_refuse_all_is_asked_no_more() {
    const OTHER: &str = r#"{"type": "about:blank", "title": "No", "detail": "no"}"#;
    let unauthorized = r#"{"type": "https://forebay.dev/problems/unauthorized", "title": "A valid token is needed", "detail": "none"}"#;
    let space = r#"{"type": "https://forebay.dev/problems/invalid-space", "title": "No space", "detail": "can be this"}"#;
    let cases = [
        (StatusCode::UNAUTHORIZED, unauthorized, 1, "FOREBAY_TOKEN"),
        (StatusCode::FORBIDDEN, OTHER, 1, "FOREBAY_TOKEN"),
        (StatusCode::NOT_FOUND, "<html>", 1, "not one of a Forebay server"),
        (StatusCode::OK, "<html>", 1, "not one of a Forebay server"),
        (StatusCode::BAD_REQUEST, space, 2, "No space: can be this"),
    ];
    let origin = Origin::ready().await;
    let ids: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    for (status, body, code, told) in cases {
        let (place, asked) = answering(status, body).await;
        let said = ended(begin_in("catalog", &place, &origin, &ids, &["--concurrency", "2"])).await;
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{status}: {said:?}");
        assert!(said.err.contains(told), "{status}: {said:?}");
        // The first, and what was under way beside it or begun before it was read.
        assert!(asked.load(SeqCst) <= 4, "{status}: {asked:?}");
    }
    assert!(origin.calls().is_empty(), "{:?}", origin.calls());
}

#[tokio::test]
async fn what_is_refused_for_a_while_stops_nothing() {
    let origin = Origin::ready().await;
    let (place, asked) = answering(StatusCode::BAD_GATEWAY, "<html>").await;
    let said = ended(begin_in("catalog", &place, &origin, &["a", "b", "c"], &["--json"])).await;
    assert_eq!(
        (said.code, counts(&said.json()), asked.load(SeqCst)),
        (Some(1), [0, 0, 0, 0, 3], 3),
        "{said:?}"
    );
}

#[tokio::test]
async fn what_could_not_work_is_wrong_usage() {
    let (server, origin) = (Server::with(SETTINGS), Origin::ready().await);
    for arguments in [
        &["--origin", "http://127.0.0.1/items"][..],
        &["--origin", "ftp://127.0.0.1/{id}"],
        &["--rate", "0"],
        &["--concurrency", "0"],
        &["--ttl", "soon"],
        &["--ids", "/none"],
        &["--resume", "/none/none"],
    ] {
        let arguments: Vec<_> = if arguments[0] == "--origin" {
            ["warm", "catalog"].iter().chain(arguments).copied().map(str::to_owned).collect()
        } else {
            let template = origin.template();
            ["warm", "catalog", "--origin", &template]
                .iter()
                .chain(arguments)
                .copied()
                .map(str::to_owned)
                .collect()
        };
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        assert_eq!(super::ask(&server, &arguments).code, Some(2), "{arguments:?}");
    }
}

//! The end: in order, and in time.

use std::{io::Write, net::TcpStream, thread::sleep, time::Duration};

use forebay_rig::Redis;
use nix::sys::signal::Signal::{SIGINT, SIGTERM};
use serde_json::json;

use crate::support::{RawAnswer, Server, exchange};

const LEASE: &str = "/v1/cache/a/b/lease";

/// Begins a request and keeps back its end.
fn begin(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    sleep(Duration::from_millis(200));
    stream
}

/// A client that never finishes.
fn hang(server: &Server) -> TcpStream {
    begin(
        server,
        "PUT /v1/cache/a/b?ttl_ms=1000 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf",
    )
}

#[test]
fn a_caller_that_waits_is_told_busy_and_the_server_ends_well() {
    let mut server = Server::start();
    let lease = format!("POST {LEASE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
    let _holder = begin(&server, &lease);
    let mut waiting = begin(&server, &lease);

    server.signal(SIGTERM);

    let answer = RawAnswer::read(&mut waiting);
    assert_eq!((answer.status, answer.problem().as_str()), (409, "busy"));
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_caller_that_waits_for_a_lock_is_told_so_and_the_lock_stays_with_its_holder() {
    let redis = Redis::start();
    let over_redis =
        || Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "[redis]\nbudget = \"1s\"");
    let mut server = over_redis();
    let taken = exchange(&server.address, "POST /v1/locks/a", &[], "");
    assert_eq!(taken.status, 201, "{taken:?}");
    let body = r#"{"wait_ms":20000}"#;
    let head = format!("POST /v1/locks/a HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}", body.len());
    let mut waiting = begin(&server, &format!("{head}\r\n\r\n{body}"));

    server.signal(SIGTERM);

    let answer = RawAnswer::read(&mut waiting);
    assert_eq!((answer.status, answer.problem().as_str()), (503, "shutting-down"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(server.ended(), Some(0));
    let token = format!("forebay-token: {}", taken.json()["token"].as_str().unwrap());
    let next = over_redis();
    assert_eq!(exchange(&next.address, "DELETE /v1/locks/a", &[&token], "").status, 204);
}

#[test]
fn what_was_recorded_is_counted_before_the_end() {
    let redis = Redis::start();
    let over_redis =
        || Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], "[redis]\nbudget = \"1s\"");
    let mut server = over_redis();
    let seen = exchange(&server.address, "POST /v1/unique/site", &[], r#"{"ids":["a","b"]}"#);
    assert_eq!(seen.status, 204, "{seen:?}");

    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(0));
    let counted = exchange(&over_redis().address, "GET /v1/unique/site", &[], "");
    assert_eq!((counted.status, &counted.json()["count"]), (200, &json!(2)), "{counted:?}");
}

// Two lines named two reasons, of which one was wrong.
#[test]
fn those_who_cannot_be_counted_before_the_end_are_told_of_once() {
    let redis = Redis::start();
    let settings = "[redis]\nbudget = \"1s\"\n[server]\nshutdown_budget = \"4s\"";
    let mut server = Server::given(&[], &[("FOREBAY_REDIS_URL", &redis.url())], settings);
    redis.kill();
    let seen = exchange(&server.address, "POST /v1/unique/site", &[], r#"{"ids":["a","b"]}"#);
    assert_eq!(seen.status, 204, "{seen:?}");

    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(0));
    let log = server.log();
    let told: Vec<_> = log.lines().filter(|line| line.contains("counted")).collect();
    assert!(told.len() == 1 && told[0].contains("visitors=2"), "{log}");
}

#[test]
fn a_server_that_shuts_down_is_not_ready() {
    let mut server = Server::start();
    let mut probe = begin(&server, "GET /readyz HTTP/1.1\r\nhost: localhost\r\n");

    server.signal(SIGINT);
    sleep(Duration::from_millis(200));
    probe.write_all(b"\r\n").unwrap();

    let answer = RawAnswer::read(&mut probe);
    assert_eq!((answer.status, answer.json()), (503, json!({ "status": "down" })));
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_client_that_hangs_does_not_outlast_the_budget() {
    let mut server = Server::with("[server]\nshutdown_budget = \"500ms\"");
    let _hanging = hang(&server);

    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Server::with("[server]\nshutdown_budget = \"1h\"");
    let _hanging = hang(&server);

    server.signal(SIGTERM);
    sleep(Duration::from_millis(200));
    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(1));
}

#[test]
fn settings_that_cannot_be_read_to_their_end_do_not_hold_the_shutdown_up() {
    for signal in [SIGTERM, SIGINT] {
        let mut server = Server::start();
        let _endless = server.begin_reload();

        server.signal(signal);

        assert_eq!(server.ended(), Some(0), "{signal}");
    }
}

#[test]
fn a_connection_without_a_request_does_not_hold_the_shutdown_up() {
    let mut server = Server::with("[server]\nshutdown_budget = \"1h\"");
    let _idle = begin(&server, "");
    let _half = begin(&server, "GET /livez HTTP/1.1\r\nhost: localhost");

    server.signal(SIGTERM);

    assert_eq!(server.ended(), Some(0));
}

//! Bodies that nobody reads: their connections go on, or are said to end.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use crate::support::{RawAnswer, Server};

const SETTINGS: &str = "[server]\nrequest_deadline = \"500ms\"\n";

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

fn send(stream: &mut TcpStream, line: &str, headers: &str, body: &str) {
    let head = format!("{line} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // What is refused by its head was refused before this arrives.
    std::thread::sleep(Duration::from_millis(50));
    stream.write_all(body.as_bytes()).unwrap();
}

fn goes_on(stream: &mut TcpStream) -> bool {
    send(stream, "GET /livez", "", "");
    RawAnswer::read_one(stream).status == 200
}

/// Whether the server closes without a further word.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0]).is_ok_and(|read| read == 0)
}

#[test]
fn a_connection_goes_on_after_a_refusal_that_came_before_the_body() {
    let server = Server::start();
    let mut stream = connect(&server);
    let refused = [
        ("POST /none", 404),
        ("POST /v1/locks/%zz", 400),
        ("GET /v1/locks/a", 405),
        ("POST /v1/locks/a?wait_ms=1", 400),
        ("PUT /v1/idempotency/a", 400),
        ("PUT /v1/cache/a/b?ttl=1", 400),
        ("POST /v1/limits/none", 404),
        ("POST /v1/unique/No", 400),
        ("DELETE /v1/cache/a/b", 204),
    ];
    for (line, status) in refused {
        for size in [10, 200_000] {
            let answer = {
                send(&mut stream, line, &format!("content-length: {size}\r\n"), &"x".repeat(size));
                RawAnswer::read_one(&mut stream)
            };
            assert_eq!((answer.status, answer.header("connection")), (status, None), "{line}: {answer:?}");
        }
        send(&mut stream, line, "transfer-encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(RawAnswer::read_one(&mut stream).status, status, "{line}");
    }
    assert!(goes_on(&mut stream));
}

#[test]
fn a_connection_whose_body_is_not_read_to_its_end_is_said_to_end() {
    let server = Server::with(SETTINGS);
    let unread = [
        ("POST /none", "content-length: 16777217\r\n", 404),
        ("POST /none", "content-length: 10\r\nexpect: 100-continue\r\n", 404),
        ("PUT /v1/cache/a/b?ttl_ms=1000", "content-length: 16777217\r\n", 413),
        ("PUT /v1/cache/a/b?ttl_ms=1000", "content-length: 10\r\n", 408),
    ];
    for (line, headers, status) in unread {
        let mut stream = connect(&server);
        send(&mut stream, line, headers, "");
        let answer = RawAnswer::read_one(&mut stream);
        let told = (answer.status, answer.header("connection"));
        assert_eq!(told, (status, Some("close")), "{line}: {answer:?}");
        assert!(is_closed(&mut stream), "{line}");
    }
}

#[test]
fn a_connection_goes_on_after_a_body_that_was_too_large() {
    let server = Server::start();
    let mut stream = connect(&server);
    let size = 9_000_000;
    send(&mut stream, "POST /v1/locks/a", &format!("content-length: {size}\r\n"), &" ".repeat(size));
    let answer = RawAnswer::read_one(&mut stream);
    assert_eq!((answer.status, answer.header("connection")), (413, None), "{answer:?}");
    assert!(goes_on(&mut stream));
}

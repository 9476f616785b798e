//! Requests that no client library would send.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::Value;

#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

/// Sends one request as it is written here, and reads the answer to its end.
pub(crate) fn exchange(address: &str, line: &str, headers: &[&str], body: &str) -> RawAnswer {
    exchange_as(address, "localhost", line, headers, body)
}

/// As [`exchange`], to a server that goes by the name `host`.
pub(crate) fn exchange_as(address: &str, host: &str, line: &str, headers: &[&str], body: &str) -> RawAnswer {
    let mut request = format!("{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for header in headers {
        request += &format!("{header}\r\n");
    }
    request += &format!("content-length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    RawAnswer::read(&mut stream)
}

impl RawAnswer {
    /// Reads until the server closes.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Reads one answer, by the length that it tells: the connection may go on.
    pub(crate) fn read_one(stream: &mut TcpStream) -> Self {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            assert_eq!(stream.read(&mut byte).unwrap(), 1, "no answer: {:?}", String::from_utf8_lossy(&head));
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Self { status, head, body: String::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        answer.body = String::from_utf8(body).unwrap();
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The last part of the problem's type.
    pub(crate) fn problem(&self) -> String {
        self.json()["type"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }
}

/// Every member that the convention asks for, and no other.
pub(crate) fn is_problem(answer: &RawAnswer, status: u16, name: &str) {
    assert_eq!((answer.status, answer.problem().as_str()), (status, name), "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let json = answer.json();
    assert_eq!(json["status"], status);
    assert_eq!(json["request_id"].as_str(), answer.header("x-request-id"));
    for member in ["type", "title", "detail"] {
        assert!(json[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {json}");
    }
}

//! A small load against the program itself, which shows where each limit begins to refuse.

use std::{fmt::Write, io, net::SocketAddr};

use anyhow::{Context, Result, bail};
use axum::http::{Method, StatusCode, header::CONTENT_TYPE};
use futures::future::try_join_all;
use reqwest::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Requests that are sent all at once.
struct Burst {
    tier: &'static str,
    key: Option<&'static str>,
    request: &'static str,
    sent: usize,
}

#[rustfmt::skip]
const BURSTS: [Burst; 5] = [
    Burst { tier: "free", key: Some("demo-free"), request: "GET /quote", sent: 15 },
    Burst { tier: "basic", key: Some("demo-basic"), request: "GET /quote", sent: 35 },
    Burst { tier: "pro", key: Some("demo-pro"), request: "GET /quote", sent: 65 },
    Burst { tier: "free, no key", key: None, request: "GET /report", sent: 4 },
    Burst { tier: "free, no key", key: None, request: "POST /sign-in", sent: 8 },
];

/// Sends all of it to the program at `address`, and tells what came of it.
pub(crate) async fn run(address: SocketAddr) -> Result<String> {
    // Whatever proxy the shell names: these requests stay on this machine.
    let client = Client::builder().no_proxy().build()?;
    let mut told =
        format!("{:<14}{:<15}{:>4}{:>10}{:>9}\n", "tier", "request", "sent", "admitted", "refused");
    for burst in BURSTS {
        let (admitted, refused) = burst.run(&client, address).await?;
        let Burst { tier, request, sent, .. } = burst;
        writeln!(told, "{tier:<14}{request:<15}{sent:>4}{admitted:>10}{refused:>9}")?;
    }
    let refusal = raw(address).await?.replace('\r', "");
    Ok(format!(
        "{told}\nThe next GET /quote of the free key is answered, as it comes over the wire:\n\n{refusal}\n"
    ))
}

impl Burst {
    /// Counts how many were admitted, and how many refused.
    async fn run(&self, client: &Client, address: SocketAddr) -> Result<(usize, usize)> {
        let statuses = try_join_all((0..self.sent).map(|_| self.send(client, address))).await?;
        let refused = statuses.iter().filter(|status| **status == StatusCode::TOO_MANY_REQUESTS).count();
        // A wrong password was let through to be looked at.
        let admitted =
            statuses.iter().filter(|status| [StatusCode::OK, StatusCode::FORBIDDEN].contains(status)).count();
        if admitted + refused < self.sent {
            bail!("{} was answered with one of {statuses:?}", self.request);
        }
        Ok((admitted, refused))
    }

    async fn send(&self, client: &Client, address: SocketAddr) -> Result<StatusCode> {
        let (method, path) = self.request.split_once(' ').context("a method and a path")?;
        let mut request = client.request(method.parse::<Method>()?, format!("http://{address}{path}"));
        if let Some(key) = self.key {
            request = request.header("x-api-key", key);
        }
        if path == "/sign-in" {
            request = request
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body("user=ada&password=guess");
        }
        Ok(request.send().await?.status())
    }
}

/// Asks for a quote with the free key, and returns what the connection brings.
async fn raw(address: SocketAddr) -> io::Result<String> {
    let mut connection = TcpStream::connect(address).await?;
    let request = format!(
        "GET /quote HTTP/1.1\r\nHost: {address}\r\nX-Api-Key: demo-free\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    Ok(answer)
}

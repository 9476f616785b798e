//! Where to listen: without tokens, nowhere that other machines can reach.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use super::ConfigError;

const SET_BY: &str = "(--listen, FOREBAY_LISTEN or `listen` in the file)";

const MAKE_A_TOKEN: &str = r#"Listen on 127.0.0.1, or make a token:
    token=$(head -c 24 /dev/urandom | base64) && echo "$token" && printf %s "$token" | sha256sum
and put its hash into the file:
    [auth]
    tokens = [{ name = "web", sha256 = "…", scopes = ["data"] }]"#;

/// The addresses that `listen` stands for.
pub(super) fn resolve(listen: &str) -> Result<Vec<SocketAddr>, ConfigError> {
    let refuse = |why: String| {
        let remedy = "give a host and a port, such as 127.0.0.1:7340 or [::1]:7340";
        ConfigError(format!("cannot listen on `{listen}`: {why}; {remedy} {SET_BY}"))
    };
    let addresses: Vec<_> = listen.to_socket_addrs().map_err(|error| refuse(error.to_string()))?.collect();
    if addresses.is_empty() {
        return Err(refuse("the host has no address".to_owned()));
    }
    Ok(addresses)
}

/// Refuses addresses that other machines can reach.
pub(super) fn require_loopback(listen: &str, addresses: &[SocketAddr]) -> Result<(), ConfigError> {
    if addresses.iter().all(|address| is_loopback(address.ip())) {
        return Ok(());
    }
    let why = "other machines can reach it and `auth.tokens` is empty";
    Err(ConfigError(format!("refusing to listen on `{listen}` {SET_BY}: {why}.\n{MAKE_A_TOKEN}")))
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

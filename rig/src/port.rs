//! Ports of this machine that nobody listens on.

use std::{
    net::{Ipv4Addr, TcpListener},
    ops::Range,
};

use rand::RngExt;

/// How far above its port a node of a cluster talks with the others.
const BUS: u16 = 10_000;

/// The ports, and those of the bus above them, lie below 32768, where Linux begins to give ports to clients: no client
/// takes the port of a server that is down, nor connects to itself there.
const PORTS: Range<u16> = 12_000..12_000 + BUS;

/// Picks a port that is free now; another process may take it before the caller does.
pub(crate) fn free() -> u16 {
    loop {
        let port = rand::rng().random_range(PORTS);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

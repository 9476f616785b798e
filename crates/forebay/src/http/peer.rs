//! The other end of the connection, as whoever accepted it tells.

use std::net::{IpAddr, SocketAddr};

#[cfg(feature = "axum")]
use axum::extract::connect_info::{ConnectInfo, MockConnectInfo};
use http::Extensions;

/// The address at the other end of a request's connection, put into the request's extensions by the server.
///
/// Programs on axum need none where the router is served with
/// `into_make_service_with_connect_info::<SocketAddr>()`: with the feature `axum`, that address is read too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(IpAddr);

impl Peer {
    /// Returns the address.
    #[must_use]
    pub fn ip(self) -> IpAddr {
        self.0
    }

    /// Finds what the server noted; a `Peer` goes before what axum knows.
    pub(super) fn of(extensions: &Extensions) -> Option<Self> {
        let peer = extensions.get().copied();
        #[cfg(feature = "axum")]
        let peer = peer.or_else(|| of_axum(extensions));
        peer
    }
}

#[cfg(feature = "axum")]
fn of_axum(extensions: &Extensions) -> Option<Peer> {
    let connected = extensions.get().map(|ConnectInfo(address): &ConnectInfo<SocketAddr>| *address);
    connected
        .or_else(|| extensions.get().map(|MockConnectInfo(address): &MockConnectInfo<SocketAddr>| *address))
        .map(Peer::from)
}

impl From<IpAddr> for Peer {
    fn from(address: IpAddr) -> Self {
        Self(address)
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(address.ip())
    }
}

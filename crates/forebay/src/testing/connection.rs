//! One connection through a proxy, from the client's arrival until both ends are closed.

use std::{io, time::Duration};

use tokio::net::{
    TcpStream,
    tcp::{OwnedReadHalf, OwnedWriteHalf},
};

use super::{inlet::Inlet, lane::Lane, outlet::Outlet};
use crate::clock::Clock;

/// How long the server may take to accept.
const CONNECT: Duration = Duration::from_secs(5);

/// Where connections lead, with what may happen to them on the way.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) server: String,
    pub(super) requests: Lane,
    pub(super) replies: Lane,
    pub(super) clock: Clock,
}

impl Route {
    /// Carries the bytes of `client` until both directions have ended.
    pub(super) async fn carry(&self, client: TcpStream) {
        let Some(server) = self.dial().await else { return };
        if client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).is_err() {
            return;
        }
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::join!(
            self.pump(&self.requests, from_client, to_server),
            self.pump(&self.replies, from_server, to_client),
        );
    }

    /// Connects to the server. A hole hides the attempt from the server, and its failure from the client.
    async fn dial(&self) -> Option<TcpStream> {
        self.requests.open().await;
        let server = self.clock.timeout(CONNECT, TcpStream::connect(&self.server)).await;
        let server = server.and_then(io::Result::ok);
        if server.is_none() {
            self.replies.open().await;
        }
        server
    }

    async fn pump(&self, lane: &Lane, from: OwnedReadHalf, to: OwnedWriteHalf) {
        let mut flow = lane.flow();
        let (mut inlet, mut outlet) = (Inlet::new(from), Outlet::new(to, &self.clock));
        while !outlet.is_closed() {
            let current = *flow.borrow_and_update();
            tokio::select! {
                biased;
                changed = flow.changed() => changed.expect("the lane has the sender"),
                () = outlet.forward(current) => {}
                bytes = inlet.read(lane), if outlet.takes_more() => outlet.push(bytes),
            }
        }
    }
}

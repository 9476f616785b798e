//! The way of one process to the servers, on which it alone can be cut off.
//!
//! Sentinels name the servers themselves, so that clients would pass by every proxy. What they answer to one process is
//! changed on its way: instead of the port of each server it has that of a proxy before it.

use std::sync::Arc;

use forebay::testing::{Flow, Proxy};
use forebay_rig::{Redis, Sentinels};
use futures::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Larger than anything that a sentinel answers.
const ANSWER: usize = 64 << 10;

/// The way, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) url: String,
    proxies: Vec<Proxy>,
    _detours: JoinSet<()>,
}

impl Way {
    /// The way that clients find by themselves, with nothing on it.
    pub(super) fn straight(url: String) -> Self {
        Self { url, proxies: Vec::new(), _detours: JoinSet::new() }
    }

    pub(super) async fn through_proxy(redis: &Redis) -> Self {
        let proxy = proxy(redis.port()).await;
        Self { url: proxy.url(), proxies: vec![proxy], _detours: JoinSet::new() }
    }

    /// Proxies before all servers and all sentinels.
    pub(super) async fn by_detours(servers: &Sentinels) -> Self {
        let mut proxies = join_all(servers.servers().iter().map(|server| proxy(server.port()))).await;
        let ports = servers.servers().iter().zip(&proxies);
        let ports: Ports = ports.map(|(server, proxy)| (server.port(), proxy.addr().port())).collect();
        let (mut detours, mut hosts) = (JoinSet::new(), Vec::new());
        for sentinel in servers.sentinels() {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
            let detour = listener.local_addr().expect("it listens").port();
            detours.spawn(listen(listener, sentinel.port(), ports.clone()));
            let before = proxy(detour).await;
            hosts.push(before.addr().to_string());
            proxies.push(before);
        }
        Self { url: servers.url_by(&hosts), proxies, _detours: detours }
    }

    /// Whether nothing can be done on it.
    pub(super) fn is_straight(&self) -> bool {
        self.proxies.is_empty()
    }

    pub(super) fn requests(&self, flow: Flow) {
        self.proxies.iter().for_each(|proxy| proxy.requests(flow));
    }

    pub(super) fn replies(&self, flow: Flow) {
        self.proxies.iter().for_each(|proxy| proxy.replies(flow));
    }

    pub(super) fn drop_replies(&self, count: u64, needle: &str) {
        self.proxies.iter().for_each(|proxy| proxy.drop_replies(count, needle));
    }

    pub(super) fn cut(&self) {
        self.proxies.iter().for_each(Proxy::cut);
    }

    pub(super) fn refuse(&self) {
        self.proxies.iter().for_each(Proxy::refuse);
    }

    pub(super) fn accept(&self) {
        self.proxies.iter().for_each(Proxy::accept);
    }
}

async fn proxy(port: u16) -> Proxy {
    Proxy::start(format!("127.0.0.1:{port}")).await.expect("a port is free")
}

/// Each port of a server, with that of the proxy before it.
type Ports = Arc<[(u16, u16)]>;

async fn listen(listener: TcpListener, sentinel: u16, ports: Ports) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(carry(client, sentinel, ports.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Ends with the first of the two ends.
async fn carry(client: TcpStream, sentinel: u16, ports: Ports) {
    let Ok(sentinel) = TcpStream::connect(("127.0.0.1", sentinel)).await else { return };
    let (mut questions, mut to_client) = client.into_split();
    let (mut answers, mut to_sentinel) = sentinel.into_split();
    let answered = async {
        let mut bytes = vec![0; ANSWER];
        while let Ok(count @ 1..) = answers.read(&mut bytes).await {
            if to_client.write_all(&changed(&bytes[..count], &ports)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = copy(&mut questions, &mut to_sentinel) => {}
        () = answered => {}
    }
}

/// An answer with the ports of proxies. All of them have five digits, so that no length changes.
fn changed(answer: &[u8], ports: &[(u16, u16)]) -> Vec<u8> {
    let digits = ports.iter().map(|(server, proxy)| (server.to_string(), proxy.to_string()));
    let digits: Vec<_> = digits.filter(|(server, proxy)| server.len() == proxy.len()).collect();
    let (mut rest, mut changed) = (answer, Vec::with_capacity(answer.len()));
    while let Some((first, behind)) = rest.split_first() {
        match digits.iter().find(|(server, _)| rest.starts_with(server.as_bytes())) {
            Some((server, proxy)) => {
                changed.extend_from_slice(proxy.as_bytes());
                rest = &rest[server.len()..];
            }
            None => {
                changed.push(*first);
                rest = behind;
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_names_a_server_names_its_proxy_then() {
        let ports = [(12_345, 40_001), (12_346, 40_002)];
        let answer = changed(b"*2\r\n$9\r\n127.0.0.1\r\n$5\r\n12345\r\n", &ports);
        assert_eq!(answer, b"*2\r\n$9\r\n127.0.0.1\r\n$5\r\n40001\r\n");
        assert_eq!(
            changed(b"rig 127.0.0.1 12345 127.0.0.1 12346", &ports),
            b"rig 127.0.0.1 40001 127.0.0.1 40002"
        );
    }
}

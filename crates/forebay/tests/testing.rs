//! The proxy of `forebay::testing`, seen from both of its ends.

use std::{io, time::Duration};

use forebay::{
    clock::Clock,
    testing::{Flow, Proxy},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// How long anything that has to happen may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what must not happen is waited for.
const QUIET: Duration = Duration::from_millis(50);

/// A proxy and the server behind it.
struct Rig {
    proxy: Proxy,
    server: TcpListener,
}

/// What `work` gives, which must neither fail nor take long.
async fn done<T>(work: impl Future<Output = io::Result<T>>) -> T {
    timeout(PATIENCE, work).await.expect("it takes too long").expect("it works")
}

impl Rig {
    async fn new() -> Self {
        let server = done(TcpListener::bind("127.0.0.1:0")).await;
        let proxy = done(Proxy::start(server.local_addr().expect("it is bound").to_string())).await;
        Self { proxy, server }
    }

    async fn client(&self) -> End {
        End(done(TcpStream::connect(self.proxy.addr())).await)
    }

    async fn server(&self) -> End {
        End(done(self.server.accept()).await.0)
    }

    /// Both ends of a new connection.
    async fn connect(&self) -> (End, End) {
        (self.client().await, self.server().await)
    }
}

/// One end of a connection.
struct End(TcpStream);

impl End {
    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        done(self.0.write_all(bytes.as_ref())).await;
    }

    async fn receives(&mut self, bytes: impl AsRef<[u8]>) {
        let mut received = vec![0; bytes.as_ref().len()];
        done(self.0.read_exact(&mut received)).await;
        assert!(received == bytes.as_ref(), "{:?} came", String::from_utf8_lossy(&received));
    }

    async fn is_quiet(&mut self) {
        let read = timeout(QUIET, self.0.read_u8()).await;
        assert!(read.is_err(), "{read:?} came");
    }

    async fn is_closed(&mut self) {
        let read = timeout(PATIENCE, self.0.read_u8()).await.expect("it stays open");
        assert!(read.is_err(), "{read:?} came");
    }
}

/// A request, or a message of pub/sub.
fn frame(text: &str) -> String {
    format!("*2\r\n$7\r\nmessage\r\n${}\r\n{text}\r\n", text.len())
}

#[tokio::test]
async fn frames_pass_both_ways() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    client.send(frame("a") + &frame("b")).await;
    server.receives(frame("a") + &frame("b")).await;
    server.send("+OK\r\n").await;
    client.receives("+OK\r\n").await;
    assert_eq!((rig.proxy.connections(), rig.proxy.accepted()), (1, 1));
    assert_eq!(rig.proxy.url(), format!("redis://{}", rig.proxy.addr()));
}

#[tokio::test]
async fn bytes_that_are_no_frames_pass() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.drop_requests(1, "PING");
    client.send("PING\r\nPI").await;
    server.receives("PING\r\nPI").await;
}

#[tokio::test]
async fn a_frame_of_many_pieces_passes() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    let large = frame(&"x".repeat(8 << 20));
    tokio::join!(client.send(&large), server.receives(&large));
}

#[tokio::test]
async fn a_closing_passes_after_the_beginning_of_a_frame() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    server.send("$10\r\nhalf").await;
    drop(server);
    client.receives("$10\r\nhalf").await;
    client.is_closed().await;
}

#[tokio::test]
async fn a_connection_that_both_ends_have_closed_is_not_open() {
    let rig = Rig::new().await;
    drop(rig.connect().await);
    let closed = async {
        while rig.proxy.connections() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    };
    done(closed).await;
    assert_eq!(rig.proxy.accepted(), 1);
}

#[tokio::test]
async fn a_delay_shifts_frames_without_adding_up() {
    let (rig, clock, delay) = (Rig::new().await, Clock::real(), Duration::from_millis(100));
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.replies(Flow::Delay(delay));
    let frames: Vec<_> = (0..50).map(|number| frame(&number.to_string())).collect();

    let begun = clock.now();
    for frame in &frames {
        server.send(frame).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    client.receives(&frames[0]).await;
    // A clock counts whole milliseconds.
    assert!(clock.now().since(begun) + Duration::from_millis(1) >= delay);
    client.receives(frames[1..].concat()).await;
    assert!(clock.now().since(begun) < delay * 20);
}

#[tokio::test]
async fn a_delay_that_ends_lets_flow_what_waits_in_order() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.requests(Flow::Delay(Duration::MAX));
    client.send(frame("a")).await;
    server.is_quiet().await;
    rig.proxy.requests(Flow::Pass);
    client.send(frame("b")).await;
    server.receives(frame("a") + &frame("b")).await;
}

#[tokio::test]
async fn a_hole_hides_even_that_a_peer_has_closed() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.requests(Flow::Hold);
    rig.proxy.replies(Flow::Hold);
    client.send(frame("a")).await;
    server.is_quiet().await;
    server.send(frame("b")).await;
    drop(server);
    client.is_quiet().await;
    rig.proxy.replies(Flow::Pass);
    client.receives(frame("b")).await;
    client.is_closed().await;
}

#[tokio::test]
async fn what_a_hole_has_held_flows_on() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.requests(Flow::Hold);
    client.send(frame("a")).await;
    drop(client);
    server.is_quiet().await;
    rig.proxy.requests(Flow::Pass);
    server.receives(frame("a")).await;
    server.is_closed().await;
}

#[tokio::test]
async fn a_hole_takes_connections_that_the_server_sees_later() {
    let rig = Rig::new().await;
    rig.proxy.requests(Flow::Hold);
    let mut client = rig.client().await;
    client.send(frame("a")).await;
    assert!(timeout(QUIET, rig.server.accept()).await.is_err());
    client.is_quiet().await;
    rig.proxy.requests(Flow::Pass);
    rig.server().await.receives(frame("a")).await;
}

#[tokio::test]
async fn what_is_discarded_never_arrives() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.replies(Flow::Hold);
    server.send(frame("held")).await;
    client.is_quiet().await;
    rig.proxy.replies(Flow::Discard);
    server.send(frame("late")).await;
    client.is_quiet().await;
    rig.proxy.replies(Flow::Pass);
    server.send(frame("c")).await;
    client.receives(frame("c")).await;
}

#[tokio::test]
async fn a_cut_closes_what_is_open_and_nothing_else() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.replies(Flow::Hold);
    rig.proxy.cut();
    client.is_closed().await;
    server.is_closed().await;

    rig.proxy.replies(Flow::Pass);
    let (mut client, mut server) = rig.connect().await;
    server.send(frame("a")).await;
    client.receives(frame("a")).await;
    assert_eq!((rig.proxy.connections(), rig.proxy.accepted()), (1, 2));
}

#[tokio::test]
async fn a_refusal_closes_new_connections_only() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.refuse();
    rig.client().await.is_closed().await;
    client.send(frame("a")).await;
    server.receives(frame("a")).await;
    assert_eq!(rig.proxy.accepted(), 1);

    rig.proxy.accept();
    let (mut client, mut server) = rig.connect().await;
    client.send(frame("b")).await;
    server.receives(frame("b")).await;
}

#[tokio::test]
async fn a_server_that_is_gone_closes_its_clients() {
    let Rig { proxy, server } = Rig::new().await;
    drop(server);
    let mut client = End(done(TcpStream::connect(proxy.addr())).await);
    client.is_closed().await;
}

#[tokio::test]
async fn just_the_replies_with_the_needle_are_dropped() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.drop_replies(1, "needle");
    server.send(["beat", "a needle", "beat", "needle 2"].map(frame).concat()).await;
    client.receives(["beat", "beat", "needle 2"].map(frame).concat()).await;
    assert_eq!(rig.proxy.dropped(), 1);
}

#[tokio::test]
async fn just_the_requests_with_the_needle_are_dropped() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.drop_requests(2, *b"needle");
    client.send(["needle", "a", "needle", "needle", "b"].map(frame).concat()).await;
    server.receives(["a", "needle", "b"].map(frame).concat()).await;
    assert_eq!(rig.proxy.dropped(), 2);
}

#[tokio::test]
async fn a_dropped_proxy_closes_everything() {
    let rig = Rig::new().await;
    let (mut client, mut server) = rig.connect().await;
    rig.proxy.requests(Flow::Hold);
    let (mut early, addr) = (rig.client().await, rig.proxy.addr());
    drop(rig);
    client.is_closed().await;
    server.is_closed().await;
    early.is_closed().await;
    assert!(TcpStream::connect(addr).await.is_err());
}

//! The handle of a proxy: it lets connections in, sets how they flow, and cuts them.

use std::{io, mem, net::SocketAddr, sync::Arc, time::Duration};

use tokio::net::{TcpListener, TcpStream};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use super::{
    connection::Route,
    lane::{Flow, Lane},
};
use crate::{
    clock::Clock,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};

/// How long no connection is taken after the operating system failed to give one, as without file descriptors.
const PAUSE: Duration = Duration::from_millis(10);

/// A TCP proxy in front of a Redis server, for tests of what a program does when the way there fails.
///
/// It forwards whole RESP frames of up to 64 MiB; bytes that are none are forwarded as they are, in that
/// direction of that connection from then on. It holds at most 64 MiB more for each of them, then lets the
/// sender wait. When it is dropped, all of its connections are closed.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// use std::time::Duration;
/// use forebay::testing::{Flow, Proxy};
///
/// let proxy = Proxy::start("127.0.0.1:6379").await?;
/// let url = proxy.url(); // for the program under test
/// assert!(url.starts_with("redis://127.0.0.1:"));
///
/// proxy.replies(Flow::Delay(Duration::from_millis(200))); // Redis is slow
/// proxy.requests(Flow::Hold); // the network is a hole
/// proxy.requests(Flow::Pass); // it heals, and what was held arrives
/// proxy.drop_replies(1, "invalidate"); // one message of pub/sub is lost
/// proxy.cut(); // Redis restarts
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    addr: SocketAddr,
    gate: Arc<Gate>,
    _listening: AbortOnDropHandle<()>,
}

impl Proxy {
    /// Starts a proxy on a free port of the loopback interface, which connects to `server` (`host:port`) once
    /// for each connection it takes.
    ///
    /// # Errors
    ///
    /// Fails if no port can be had.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime with I/O and time.
    pub async fn start(server: impl Into<String>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addr = listener.local_addr()?;
        let gate = Arc::new(Gate::before(server.into()));
        let listening = tokio::spawn(gate.clone().listen(listener));
        Ok(Self { addr, gate, _listening: AbortOnDropHandle::new(listening) })
    }

    /// Where the proxy listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where the proxy listens, as the URL of a Redis server.
    pub fn url(&self) -> String {
        format!("redis://{}", self.addr)
    }

    /// Sets how requests flow, in all connections, present and future.
    ///
    /// In a hole a new connection is taken, and the server does not see it before the hole ends.
    pub fn requests(&self, flow: Flow) {
        self.gate.route.requests.set(flow);
    }

    /// Sets how replies and messages of pub/sub flow, in all connections, present and future.
    pub fn replies(&self, flow: Flow) {
        self.gate.route.replies.set(flow);
    }

    /// Drops the next `count` frames of the server that contain `needle`, of those that reach the proxy from now
    /// on, in whichever connection. An empty needle is in every frame.
    ///
    /// A client takes the reply that follows a dropped one for its own; to lose a message of pub/sub is harmless.
    pub fn drop_replies(&self, count: u64, needle: impl Into<Vec<u8>>) {
        self.gate.route.replies.lose(count, needle.into());
    }

    /// Drops the next `count` requests that contain `needle`, of those that reach the proxy from now on, in
    /// whichever connection. An empty needle is in every request.
    pub fn drop_requests(&self, count: u64, needle: impl Into<Vec<u8>>) {
        self.gate.route.requests.lose(count, needle.into());
    }

    /// How many frames have been dropped because of [`Proxy::drop_replies`] or [`Proxy::drop_requests`].
    pub fn dropped(&self) -> u64 {
        self.gate.route.requests.dropped() + self.gate.route.replies.dropped()
    }

    /// Closes every connection at once, holes or not; what they held is lost. New ones are still taken.
    pub fn cut(&self) {
        mem::take(&mut *self.gate.cut.lock()).cancel();
    }

    /// Closes every new connection as soon as it is made, until [`Proxy::accept`].
    pub fn refuse(&self) {
        self.gate.refusing.store(true, SeqCst);
    }

    /// Takes new connections again, as at the start.
    pub fn accept(&self) {
        self.gate.refusing.store(false, SeqCst);
    }

    /// How many connections are open now; one that was cut counts for some moments more.
    pub fn connections(&self) -> usize {
        self.gate.open.len()
    }

    /// How many connections have been taken so far; those refused do not count.
    pub fn accepted(&self) -> u64 {
        self.gate.accepted.load(SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The token stays, so that a connection that is being taken right now ends too.
        self.gate.cut.lock().cancel();
    }
}

/// Where connections come in.
#[derive(Debug)]
struct Gate {
    route: Route,
    refusing: AtomicBool,
    accepted: AtomicU64,
    open: TaskTracker,
    /// Ends the connections taken since the last cut.
    cut: Mutex<CancellationToken>,
}

impl Gate {
    fn before(server: String) -> Self {
        let (requests, replies) = (Lane::default(), Lane::default());
        Self {
            route: Route { server, requests, replies, clock: Clock::real() },
            refusing: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            open: TaskTracker::new(),
            cut: Mutex::default(),
        }
    }

    async fn listen(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((client, _)) => self.take(client),
                Err(_) => self.route.clock.sleep(PAUSE).await,
            }
        }
    }

    fn take(self: &Arc<Self>, client: TcpStream) {
        if self.refusing.load(SeqCst) {
            return;
        }
        self.accepted.fetch_add(1, SeqCst);
        let (gate, cut) = (self.clone(), self.cut.lock().clone());
        self.open.spawn(async move { cut.run_until_cancelled(gate.route.carry(client)).await });
    }
}

//! Another server stands in the place of the old one before anybody has missed it: whoever waits for the new connection
//! is not served what was invalidated on the old one.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::{
    Forebay,
    cache::{Cache, Invalidated, Lookup, Put},
    testing::{Flow, Proxy},
};
use forebay_rig::{Redis, Reply};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::{
    stage::{PATIENCE, key, works},
    timing::{pass, until},
};

const ROUNDS: usize = 10;

/// So much that a read waits for the new connection.
const BUDGET: Duration = Duration::from_secs(1);

/// An address behind which one server is exchanged for another; connections that exist stay where they are.
struct Switch {
    port: u16,
    target: watch::Sender<u16>,
}

impl Switch {
    async fn to(port: u16) -> Self {
        let (target, towards) = watch::channel(port);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let target = *towards.borrow();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(("127.0.0.1", target)).await?;
                    copy_bidirectional(&mut client, &mut server).await
                });
            }
        });
        Self { port, target }
    }
}

/// A process whose server is exchanged while it reconnects, and two servers that have the same old value.
struct Exchange {
    servers: [Redis; 2],
    switch: Switch,
    proxy: Proxy,
    forebay: Forebay,
    cache: Cache<String>,
}

impl Exchange {
    async fn new() -> Self {
        let servers = [Redis::start(), Redis::start()];
        let switch = Switch::to(servers[0].port()).await;
        let proxy = Proxy::start(format!("127.0.0.1:{}", switch.port)).await.expect("a port is free");
        let forebay = Forebay::builder("outage").redis(proxy.url()).redis_budget(BUDGET).build().await;
        let forebay = forebay.expect("Redis is optional");
        let cache = forebay.cache("texts", Duration::from_secs(600)).local_time_to_live(Duration::ZERO);
        let cache = cache.build().expect("nothing to refuse");
        Self { servers, switch, proxy, forebay, cache }
    }

    /// Stores and invalidates `id` on the one server, then leaves the other one with what was stored, and the process
    /// without a connection.
    async fn to(&self, server: usize, id: &str) {
        let [old, new] = [&self.servers[1 - server], &self.servers[server]];
        until(PATIENCE, || works(&self.forebay)).await.expect("Redis is used");
        assert_eq!(self.cache.put(id, "old".to_owned()).await.expect("it can be stored"), Put::Stored);
        let Reply::Bytes(bytes) = old.raw(&[b"GET", key(id).as_bytes()]) else {
            panic!("{id} is not stored")
        };
        assert_eq!(self.cache.invalidate(id).await, Invalidated::Everywhere);
        let set = new.raw(&[b"SET", key(id).as_bytes(), &bytes, b"PX", b"600000"]);
        assert_eq!(set.to_string(), "OK");
        self.switch.target.send_replace(new.port());
        self.proxy.requests(Flow::Hold);
        self.proxy.cut();
        pass(Duration::from_millis(20)).await;
    }

    /// Lets the process have its connection.
    async fn connects(&self) {
        pass(Duration::from_millis(50)).await;
        self.proxy.requests(Flow::Pass);
    }
}

#[tokio::test]
async fn a_read_that_waits_for_the_new_connection_loads() {
    let exchange = Arc::new(Exchange::new().await);
    for round in 0..ROUNDS {
        let id = round.to_string();
        exchange.to((round + 1) % 2, &id).await;
        let (cache, asked) = (exchange.cache.clone(), id.clone());
        let read = tokio::spawn(async move {
            cache.get_or_load(&asked, async |_| Ok::<_, Infallible>("new".to_owned())).await
        });
        exchange.connects().await;
        let value = read.await.expect("the read ends").expect("no caller sees an error");
        assert_eq!(*value, "new", "round {round}");
    }
}

#[tokio::test]
async fn a_look_up_that_waits_for_the_new_connection_gets_the_lease() {
    let exchange = Arc::new(Exchange::new().await);
    for round in 0..ROUNDS {
        let id = round.to_string();
        exchange.to((round + 1) % 2, &id).await;
        let (cache, asked) = (exchange.cache.clone(), id.clone());
        let look_up = tokio::spawn(async move { cache.lookup(asked, Duration::ZERO).await });
        exchange.connects().await;
        let found = look_up.await.expect("the look-up ends");
        assert!(matches!(found, Lookup::Lease(_)), "round {round}: {found:?}");
    }
}

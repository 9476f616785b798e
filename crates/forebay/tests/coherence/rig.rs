//! What the tests are written against: `Forebay`s of one app, each behind a proxy of its own and a process in all
//! but name, over one server.

use std::{future::IntoFuture, sync::LazyLock, time::Duration};

use forebay::{
    Forebay,
    cache::{Builder, Cache, Entry, Invalidated, Read, Source},
    clock::{Clock, Moment},
    status::{RedisStatus, Status},
    testing::Proxy,
};
use forebay_rig::Redis;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) use crate::origin::Origin;

/// The fresh life of what is stored, unless a test says otherwise.
pub(crate) const LIFE: Duration = Duration::from_secs(60);

/// More than a busy machine needs for anything that has to happen.
const PATIENCE: Duration = Duration::from_secs(10);

/// So much that no answer is late because the machine is busy.
const BUDGET: Duration = Duration::from_secs(1);

pub(crate) static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::real);

/// One server and whoever uses it.
pub(crate) struct Rig {
    pub(crate) redis: Redis,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self { redis: Redis::start() }
    }

    /// Opens so many processes that hear each other.
    pub(crate) async fn open<const N: usize>(&self) -> [Process; N] {
        let mut processes = Vec::new();
        for _ in 0..N {
            processes.push(self.open_with(|builder| builder).await);
        }
        eventually(|| processes.iter().all(|process| process.status().others >= N - 1)).await;
        processes.try_into().ok().unwrap()
    }

    /// Opens a process with further settings; it can ask the server and hears.
    pub(crate) async fn open_with(
        &self,
        settings: impl FnOnce(forebay::Builder) -> forebay::Builder,
    ) -> Process {
        let process = self.open_unheard(settings, |_| {}).await;
        eventually(|| process.status().usable && process.status().hears).await;
        process
    }

    /// Opens a process whose proxy has `fault` from the start.
    pub(crate) async fn open_unheard(
        &self,
        settings: impl FnOnce(forebay::Builder) -> forebay::Builder,
        fault: impl FnOnce(&Proxy),
    ) -> Process {
        let proxy = Proxy::start(format!("127.0.0.1:{}", self.redis.port())).await.unwrap();
        fault(&proxy);
        let builder = Forebay::builder("rig").redis(proxy.url()).redis_budget(BUDGET);
        Process { forebay: settings(builder).build().await.unwrap(), proxy }
    }

    /// Loses the subscriptions of all processes.
    pub(crate) fn kill_subscriptions(&self) {
        self.redis.call(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    }

    /// Invalidates an id of no use in `writer`, and brings what that says on the channel.
    pub(crate) async fn message_of(&self, writer: &Cache<String>) -> String {
        let mut wire = TcpStream::connect(("127.0.0.1", self.redis.port())).await.unwrap();
        wire.write_all(b"SUBSCRIBE forebay:rig:invalidate\r\n").await.unwrap();
        let (mut heard, mut piece) = (String::new(), [0; 4096]);
        loop {
            invalidate(writer, "who").await;
            let read = done(wire.read(&mut piece)).await.unwrap();
            heard.push_str(str::from_utf8(&piece[..read]).unwrap());
            let message =
                heard.lines().find(|line| line.starts_with("f1 gone") && line.ends_with(" case who"));
            if let Some(message) = message {
                return message.to_owned();
            }
        }
    }

    /// The leases and notes there are.
    pub(crate) fn leases(&self) -> String {
        self.redis.call(&["KEYS", "lease:*"])
    }
}

impl Drop for Rig {
    /// Whatever a test has done, nothing stays for ever.
    fn drop(&mut self) {
        if !std::thread::panicking() && self.redis.answers(PATIENCE) {
            assert_eq!(self.redis.keys_without_expiry(), Vec::<String>::new());
        }
    }
}

/// The key of the value of `id` in the space of the tests.
pub(crate) fn value_key(id: &str) -> String {
    format!("cache:rig:case:v1:{{{id}}}")
}

/// The key of its lease.
pub(crate) fn lease_key(id: &str) -> String {
    format!("lease:rig:case:v1:{{{id}}}")
}

/// One `Forebay` and its way to the server.
pub(crate) struct Process {
    pub(crate) forebay: Forebay,
    pub(crate) proxy: Proxy,
}

impl Process {
    pub(crate) fn builder(&self) -> Builder<String> {
        self.forebay.cache("case", LIFE).jitter(0.0)
    }

    pub(crate) fn cache(&self) -> Cache<String> {
        self.builder().build().unwrap()
    }

    pub(crate) fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            other => panic!("it runs on {other:?}"),
        }
    }
}

/// Has `cache` hold `value`, loaded unless some level has it. A load answers before its value is stored, and where
/// the machine is so busy that nobody could be asked, it is not.
pub(crate) async fn fill(cache: &Cache<String>, id: &str, value: &str) {
    let began = CLOCK.now();
    while CLOCK.now().since(began) < PATIENCE {
        assert_eq!(*Origin::ready().call(cache, id, Ok(value)).await.unwrap().unwrap(), value);
        for _ in 0..50 {
            if entry(cache, id).await.is_some() {
                return;
            }
            CLOCK.sleep(Duration::from_millis(2)).await;
        }
    }
    panic!("{id} is not stored");
}

/// Reads `id` until it is in the memory of `cache`, as `value`.
pub(crate) async fn remember(cache: &Cache<String>, id: &str, value: &str) {
    let began = CLOCK.now();
    loop {
        fill(cache, id, value).await;
        if source(cache, id).await == Some(Source::Memory) {
            return;
        }
        assert!(CLOCK.now().since(began) < PATIENCE, "{id} does not stay in memory");
        CLOCK.sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn invalidate(cache: &Cache<String>, id: &str) {
    assert_eq!(cache.invalidate(id).await, Invalidated::Everywhere);
}

/// What `cache` tells of `id`.
pub(crate) async fn entry(cache: &Cache<String>, id: &str) -> Option<Entry<String>> {
    match cache.read(id).await {
        Read::Hit(entry) => Some(entry),
        Read::Absent | Read::Miss => None,
    }
}

/// Where the value of `id` comes from, if there is one.
pub(crate) async fn source(cache: &Cache<String>, id: &str) -> Option<Source> {
    entry(cache, id).await.map(|entry| entry.source)
}

/// The value that `cache` would hand out.
pub(crate) async fn held(cache: &Cache<String>, id: &str) -> Option<String> {
    cache.get(id).await.map(|value| (*value).clone())
}

/// How long `cache` still serves `old` for `id`, counted from `since`.
pub(crate) async fn served_for(cache: &Cache<String>, id: &str, old: &str, since: Moment) -> Duration {
    lasts(since, async || held(cache, id).await.as_deref() == Some(old)).await
}

/// From `since` to the first look at which `fact` holds no more, without the time in which nothing on this machine
/// ran: heartbeats come the later for it.
pub(crate) async fn lasts(since: Moment, fact: impl AsyncFn() -> bool) -> Duration {
    let mut stood_still = Duration::ZERO;
    loop {
        let looked = CLOCK.now();
        if !fact().await {
            return looked.since(since).saturating_sub(stood_still);
        }
        assert!(looked.since(since) < PATIENCE, "it lasts for ever");
        CLOCK.sleep(Duration::from_millis(1)).await;
        stood_still += CLOCK.now().since(looked).saturating_sub(Duration::from_millis(20));
    }
}

/// As [`served_for`], of what `writer` invalidates; the best of several times, as the machine may be busy.
pub(crate) async fn served_at_best(writer: &Cache<String>, reader: &Cache<String>) -> Duration {
    let mut best = PATIENCE;
    for _ in 0..3 {
        remember(reader, "best", "old").await;
        invalidate(writer, "best").await;
        best = best.min(served_for(reader, "best", "old", CLOCK.now()).await);
    }
    best
}

/// Waits until `fact` holds.
pub(crate) async fn eventually(fact: impl Fn() -> bool) {
    let began = CLOCK.now();
    while !fact() {
        assert!(CLOCK.now().since(began) < PATIENCE, "it does not come true");
        CLOCK.sleep(Duration::from_millis(2)).await;
    }
}

/// What `work` gives, which must not take for ever.
pub(crate) async fn done<W: IntoFuture>(work: W) -> W::Output {
    CLOCK.timeout(PATIENCE, work.into_future()).await.expect("it takes too long")
}

//! Where every test plays: a server, a process over it, and what is seen of both.

use std::{convert::Infallible, sync::Arc, time::Duration};

use forebay::{
    Forebay,
    cache::{Cache, Loaded, Put},
    status::{RedisStatus, Status},
    testing::{Flow, Proxy},
};
use forebay_rig::Redis;

use crate::{
    callers::Callers,
    journal::Journal,
    timing::{now, pass, timed, until},
};

/// How soon Redis is in use again once it can be.
const BACK: Duration = Duration::from_secs(2);

/// How much later what others say is heard and trusted again: at the next heartbeat, on a busy machine.
const BEAT: Duration = Duration::from_secs(1);

/// How long anything may take that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A server and a process that uses it.
pub(crate) struct Stage {
    pub(crate) redis: Arc<Redis>,
    pub(crate) forebay: Forebay,
    pub(crate) cache: Cache<String>,
    pub(crate) journal: Journal,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::over(Redis::start()).await
    }

    /// Over a server with settings of its own.
    pub(crate) async fn over(redis: Redis) -> Self {
        let url = redis.url();
        let stage = Self::at(redis, url).await;
        stage.in_use().await;
        stage
    }

    /// With a proxy between process and server.
    pub(crate) async fn behind_proxy() -> (Self, Proxy) {
        let redis = Redis::start();
        let proxy = Proxy::start(format!("127.0.0.1:{}", redis.port())).await.expect("a port is free");
        let stage = Self::at(redis, proxy.url()).await;
        stage.in_use().await;
        (stage, proxy)
    }

    /// At a URL where the server may not be usable.
    pub(crate) async fn at(redis: Redis, url: String) -> Self {
        let journal = Journal::open();
        let (forebay, cache) = process(&url).await;
        Self { redis: Arc::new(redis), forebay, cache, journal }
    }

    /// Another process over the same server.
    pub(crate) async fn neighbour(&self) -> (Forebay, Cache<String>) {
        let (forebay, cache) = process(&self.redis.url()).await;
        until(PATIENCE, || works(&forebay)).await.expect("the neighbour uses Redis");
        (forebay, cache)
    }

    /// Asks the server without holding up the process.
    pub(crate) async fn call(&self, command: &[&str]) -> String {
        let (redis, command) = (self.redis.clone(), command.iter().map(|&word| word.to_owned()).collect());
        let ask =
            move |command: Vec<String>| redis.call(&command.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(move || ask(command)).await.expect("the server answers")
    }

    pub(crate) async fn restart(&self) {
        let redis = self.redis.clone();
        tokio::task::spawn_blocking(move || redis.restart()).await.expect("the server starts");
    }

    /// Whether the server has a value for `id`.
    pub(crate) async fn stores(&self, id: &str) -> bool {
        self.call(&["EXISTS", &key(id)]).await == "1"
    }

    /// Puts a value that must be stored.
    pub(crate) async fn put(&self, id: &str, value: Loaded<String>) {
        assert_eq!(self.cache.put(id, value).await.expect("it can be stored"), Put::Stored);
    }

    /// Has `value` loaded for `id` until the server has it: a fill that is not answered in time is not repeated.
    pub(crate) async fn fill(&self, id: &str, value: &str) {
        let began = now();
        while !self.stores(id).await {
            assert!(began.elapsed() < PATIENCE, "{id} is not stored: {:?}", self.status());
            let value = value.to_owned();
            let load = async move |_| Ok::<_, Infallible>(value);
            self.cache.fresh().get_or_load(id, load).await.expect("no caller sees an error");
            pass(Duration::from_millis(20)).await;
        }
    }

    pub(crate) fn status(&self) -> RedisStatus {
        status(&self.forebay)
    }

    /// Reads `id`, loading `value` if need be.
    pub(crate) async fn read(&self, id: &str, value: &str) -> String {
        read(&self.cache, id, value).await
    }

    /// Waits until Redis is used and heard.
    pub(crate) async fn in_use(&self) -> Duration {
        let waited = until(PATIENCE, || works(&self.forebay)).await;
        waited.unwrap_or_else(|| panic!("Redis is not used: {:?}", self.status()))
    }

    /// Waits until Redis is given up.
    pub(crate) async fn given_up(&self) -> Duration {
        let waited = until(PATIENCE, || !self.status().usable).await;
        waited.unwrap_or_else(|| panic!("Redis is still used: {:?}", self.status()))
    }

    /// Waits until no change waits for Redis.
    pub(crate) async fn settled(&self) -> Duration {
        let waited = until(PATIENCE, || self.status().deferred == 0).await;
        waited.unwrap_or_else(|| panic!("changes still wait: {:?}", self.status()))
    }

    /// Has the breaker see that the server is hung.
    pub(crate) async fn give_up(&self) {
        futures::future::join_all((0..30).map(|n| self.read_owned(format!("give-up-{n}")))).await;
        self.given_up().await;
    }

    async fn read_owned(&self, id: String) -> String {
        self.read(&id, "").await
    }

    /// Strikes under load, heals after `span`, and asserts that callers noticed nothing but misses.
    pub(crate) async fn survives(
        &self,
        strike: impl Future<Output = ()>,
        span: Duration,
        heal: impl Future<Output = ()>,
    ) {
        let callers = Callers::begin(&self.cache);
        pass(Duration::from_millis(200)).await;
        strike.await;
        let given_up = until(span, || !self.status().usable).await.unwrap_or(span);
        pass(span.saturating_sub(given_up)).await;
        heal.await;
        let (usable, _) = timed(until(PATIENCE, || self.status().usable)).await;
        let (healed, _) = timed(async { futures::future::join(self.in_use(), self.settled()).await }).await;
        let healed = usable + healed;
        pass(Duration::from_millis(100)).await;
        let seen = callers.end().await;
        seen.assert_unharmed();
        assert!(usable <= BACK, "in use again after {usable:?}");
        assert!(healed <= BACK + BEAT, "heard, and all confirmed, after {healed:?}");
        assert!(self.journal.lines() <= 2, "{} log lines", self.journal.lines());
        println!(
            "given up after {given_up:?}, used after {usable:?}, heard after {healed:?}; {} log lines; {seen}",
            self.journal.lines()
        );
    }
}

/// A process over the server at `url`, which may not be usable.
pub(crate) async fn process(url: &str) -> (Forebay, Cache<String>) {
    let forebay = Forebay::builder("outage").redis(url).build().await.expect("Redis is optional");
    let cache =
        forebay.cache::<String>("texts", Duration::from_secs(600)).build().expect("nothing to refuse");
    (forebay, cache)
}

pub(crate) async fn read(cache: &Cache<String>, id: &str, value: &str) -> String {
    let value = value.to_owned();
    let loaded = cache.get_or_load(id, async move |_| Ok::<_, Infallible>(value)).await;
    loaded.expect("no caller sees an error").to_string()
}

pub(crate) fn status(forebay: &Forebay) -> RedisStatus {
    match forebay.status() {
        Status::Redis(status) => status,
        other => panic!("the stage is set on {other:?}"),
    }
}

pub(crate) fn works(forebay: &Forebay) -> bool {
    let status = status(forebay);
    status.usable && status.hears
}

/// The key of a value.
pub(crate) fn key(id: &str) -> String {
    format!("cache:outage:texts:v1:{{{id}}}")
}

/// A hole in both directions.
pub(crate) fn flow(proxy: &Proxy, flow: Flow) {
    proxy.requests(flow);
    proxy.replies(flow);
}

//! Where every test plays: a cluster, and a process that uses it without a memory of its own.

use std::{convert::Infallible, time::Duration};

use forebay::{
    Forebay,
    cache::Cache,
    clock::Clock,
    status::{RedisStatus, Status},
};
use forebay_rig::{Cluster, Redis};

/// How long anything may take that has to happen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process over a cluster.
pub(crate) struct Stage {
    pub(crate) forebay: Forebay,
    pub(crate) cache: Cache<String>,
}

impl Stage {
    /// At a URL where the cluster may not be usable.
    pub(crate) async fn at(url: String, budget: Duration) -> Self {
        let forebay = Forebay::builder("cluster").redis(url).redis_budget(budget).build().await.unwrap();
        let cache = forebay.cache("texts", Duration::from_secs(600)).local_time_to_live(Duration::ZERO);
        Self { cache: cache.build().unwrap(), forebay }
    }

    pub(crate) fn status(&self) -> RedisStatus {
        match self.forebay.status() {
            Status::Redis(status) => status,
            other => panic!("the stage is set on {other:?}"),
        }
    }

    pub(crate) async fn in_use(&self) {
        self.until("Redis is used", |status| status.usable && status.hears).await;
    }

    pub(crate) async fn settled(&self) {
        self.until("nothing waits", |status| status.deferred == 0).await;
    }

    async fn until(&self, what: &str, holds: impl Fn(&RedisStatus) -> bool) {
        let waiting = async {
            while !holds(&self.status()) {
                pass(Duration::from_millis(5)).await;
            }
        };
        let waited = Clock::real().timeout(PATIENCE, waiting).await;
        assert!(waited.is_some(), "it is not so that {what}: {:?}", self.status());
    }

    /// Reads `id`, loading `value` if need be.
    pub(crate) async fn read(&self, id: &str, value: &str) -> String {
        let value = value.to_owned();
        let loaded = self.cache.get_or_load(id, async move |_| Ok::<_, Infallible>(value)).await;
        loaded.expect("no caller sees an error").to_string()
    }

    /// Has `value` loaded for `id` until `node` has it: a fill that is not answered in time is not repeated.
    pub(crate) async fn fill(&self, id: &str, value: &str, node: &Redis) {
        for _ in 0..100 {
            assert_eq!(self.read(id, value).await, value);
            pass(Duration::from_millis(20)).await;
            if node.call(&["EXISTS", &key(id)]) == "1" {
                return;
            }
        }
        panic!("{id} is not stored: {:?}", self.status());
    }

    /// Has `value` stored for `id`: what is not confirmed in time is tried again.
    pub(crate) async fn put(&self, id: &str, value: &str) {
        for _ in 0..100 {
            if self.cache.put(id, value.to_owned()).await.unwrap() == forebay::cache::Put::Stored {
                return;
            }
            self.settled().await;
        }
        panic!("{id} is not stored: {:?}", self.status());
    }
}

/// The key of a value.
pub(crate) fn key(id: &str) -> String {
    format!("cache:cluster:texts:v1:{{{id}}}")
}

/// The slot of an id.
pub(crate) fn slot(cluster: &Cluster, id: &str) -> u16 {
    cluster.nodes()[0].call(&["CLUSTER", "KEYSLOT", &key(id)]).parse().unwrap()
}

/// The place of the node that a new cluster gives an id to.
pub(crate) fn place(cluster: &Cluster, id: &str) -> usize {
    match slot(cluster, id) {
        ..=5460 => 0,
        5461..=10922 => 1,
        _ => 2,
    }
}

/// So many ids of the node at `place`.
pub(crate) fn ids_at(cluster: &Cluster, at: usize, count: usize) -> Vec<String> {
    let ids = (0..).map(|n| format!("id-{n}")).filter(|id| place(cluster, id) == at);
    ids.take(count).collect()
}

pub(crate) fn does(node: &Redis, command: &[&str]) {
    let reply = node.call(command);
    assert!(!reply.starts_with('-'), "{command:?}: {reply}");
}

pub(crate) async fn pass(span: Duration) {
    Clock::real().sleep(span).await;
}

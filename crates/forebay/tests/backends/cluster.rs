//! Stamps every case for a cluster of Redis.

use std::{sync::Weak, time::Duration};

use forebay::cache::{Invalidated, Loaded, Matched, Put};
use forebay_rig::{Cluster, Redis, ServerClock};

use crate::{
    clocked::{Clocked, ClockedRig, Clocks},
    rig::{Origin, Rig, held, text},
    server::{Running, ServerRig, Servers},
};

impl Servers for Cluster {
    // From node to node, and from there to who listens.
    const MOMENT: Duration = Duration::from_millis(4);

    fn start() -> Self {
        Self::start()
    }

    fn url(&self) -> String {
        self.url()
    }

    fn nodes(&self) -> &[Redis] {
        self.nodes()
    }

    fn running() -> &'static Running<Self> {
        static RUNNING: Running<Cluster> = Running::new(Weak::new());
        &RUNNING
    }
}

impl Clocks for Cluster {
    fn with_clock() -> (Self, ServerClock) {
        Self::with_clock()
    }

    fn clocked() -> &'static Running<Clocked<Self>> {
        static RUNNING: Running<Clocked<Cluster>> = Running::new(Weak::new());
        &RUNNING
    }
}

pub(crate) type ClusterRig = ServerRig<Cluster>;
pub(crate) type ClockedClusterRig = ClockedRig<Cluster>;

crate::cases::stamp!(crate::cluster::ClusterRig);
crate::cases::filter::stamp!(crate::cluster::ClusterRig);
crate::cases::limiter::stamp!(crate::cluster::ClockedClusterRig);
crate::cases::once::stamp!(crate::cluster::ClockedClusterRig);
crate::cases::topics::stamp!(crate::cluster::ClockedClusterRig);
crate::cases::unique::stamp!(crate::cluster::ClockedClusterRig);
crate::cases::lock::stamp!(crate::cluster::ClusterRig);
crate::stored::stamp!(crate::cluster::ClockedClusterRig);

#[tokio::test]
async fn every_node_runs_scripts() {
    let rig = ClusterRig::new().await;
    let cache = rig.cache();
    for n in 0..50 {
        let value = n.to_string();
        assert_eq!(text(&cache.get_or_load(&value, Origin::ready().gives(&value)).await), value);
    }
    // The rig itself calls by the text, never by the hash.
    for node in rig.servers.nodes() {
        assert!(node.calls("evalsha") > 0, "{}", node.url());
    }
}

// C54: ioredis #764, redis #9363 and BentoCache 1.5.1 clear one node only, or none.
#[tokio::test]
async fn what_is_invalidated_together_lies_on_every_node() {
    let rig = ClusterRig::new().await;
    let cache = rig.cache();
    for group in ["red", "all"] {
        for n in 0..100 {
            let loaded = Loaded::new(n.to_string()).tag("red");
            assert_eq!(cache.put(n.to_string(), loaded).await.unwrap(), Put::Stored);
        }
        let pattern = format!("cache:{}:*", rig.app);
        let nodes = rig.servers.nodes().iter().filter(|node| !node.call(&["KEYS", &pattern]).is_empty());
        assert!(nodes.count() >= 3);
        let done = if group == "red" { cache.invalidate_tag("red").await } else { cache.clear().await };
        assert_eq!(done, Invalidated::Everywhere);
        for n in 0..100 {
            assert_eq!(held(&cache, &n.to_string()).await, None, "{group}: {n}");
        }
    }
}

// C54 for patterns: a scan covers one node.
#[tokio::test]
async fn what_matches_a_pattern_lies_on_every_node() {
    let rig = ClusterRig::new().await;
    let cache = rig.cache();
    for n in 0..100 {
        assert_eq!(cache.put(format!("n:{n}"), n.to_string()).await.unwrap(), Put::Stored);
    }
    let pattern = format!("cache:{}:*", rig.app);
    let nodes = rig.servers.nodes().iter().filter(|node| !node.call(&["KEYS", &pattern]).is_empty());
    assert!(nodes.count() >= 3);
    let matched = cache.invalidate_matching("n:*").await.unwrap();
    assert_eq!(matched, Matched::Done { invalidated: 100, deferred: 0, complete: true });
    assert!(rig.servers.nodes().iter().all(|node| node.call(&["KEYS", &pattern]).is_empty()));
}

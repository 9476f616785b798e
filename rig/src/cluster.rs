//! A cluster of three masters, without replicas unless they are asked for.

use std::time::Duration;

use crate::{clock::ServerClock, patience::within, redis::Redis, stats::field};

const PATIENCE: Duration = Duration::from_secs(20);

/// The first and the last slot of each node, together all 16384.
const SLOTS: [[&str; 2]; 3] = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];

const SETTINGS: &[&str] = &["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"];

/// Longer than any step of a clock: nobody is taken for dead because time has passed.
const NEVER: [&str; 2] = ["--cluster-node-timeout", "31536000000000"];

/// How far a clock goes at a look whether a cluster is ready: a node waits for two seconds of it.
const STEP: Duration = Duration::from_millis(100);

/// A cluster of one's own, which ends as [`Redis`] does.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Redis>,
    /// What every node is started with.
    settings: Vec<&'static str>,
}

impl Cluster {
    /// Starts three nodes and waits until each of them knows a node for every slot, which takes about two seconds.
    ///
    /// # Panics
    ///
    /// If they do not agree within twenty seconds.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts three nodes with further arguments, as [`start`](Self::start) does.
    pub(crate) fn with(arguments: &[&'static str]) -> Self {
        let settings = [SETTINGS, arguments].concat();
        let cluster = Self::of(&settings, || Redis::with(&settings));
        cluster.settle();
        cluster
    }

    /// Starts three nodes under one clock, which stands still until it is moved.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start) and [`Redis::with_clock`].
    pub fn with_clock() -> (Self, ServerClock) {
        let clock = ServerClock::new();
        let settings = [SETTINGS, &NEVER].concat();
        let cluster = Self::of(&settings, || Redis::under(&clock, &settings));
        cluster.settle_while(|| clock.advance(STEP));
        (cluster, clock)
    }

    fn of(settings: &[&'static str], start: impl Fn() -> Redis) -> Self {
        let nodes = SLOTS.iter().map(|&[first, last]| {
            let node = start();
            node.reply(&["CLUSTER", "ADDSLOTSRANGE", first, last]).granted();
            node
        });
        let cluster = Self { nodes: nodes.collect(), settings: settings.to_vec() };
        cluster.meet();
        cluster
    }

    /// Waits until each node knows a node for every slot, as after a restart of one of them.
    ///
    /// # Panics
    ///
    /// If they do not agree within twenty seconds.
    pub fn settle(&self) {
        self.settle_while(|| ());
    }

    fn settle_while(&self, time_passes: impl Fn()) {
        let agreed = within(PATIENCE, || {
            time_passes();
            self.nodes.iter().all(knows_every_slot).then_some(())
        });
        assert!(agreed.is_some(), "no cluster:\n{}", self.nodes[0].call(&["CLUSTER", "NODES"]));
    }

    /// The address as clients take it.
    pub fn url(&self) -> String {
        url(&self.nodes)
    }

    /// The nodes, in the order of their slots.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// The keys of every node that would stay for ever.
    pub fn keys_without_expiry(&self) -> Vec<String> {
        self.nodes.iter().flat_map(Redis::keys_without_expiry).collect()
    }

    /// Starts a replica of the node at `place`, and waits until it has what that has.
    ///
    /// # Panics
    ///
    /// If it has not within twenty seconds.
    pub fn replica(&self, place: usize) -> Redis {
        let (node, replica) = (&self.nodes[place], Redis::with(&self.settings));
        let name = node.call(&["CLUSTER", "MYID"]);
        replica.reply(&["CLUSTER", "MEET", "127.0.0.1", &node.port().to_string()]).granted();
        let follows = || (replica.call(&["CLUSTER", "REPLICATE", &name]) == "OK").then_some(());
        let linked = || field(&replica.call(&["INFO", "replication"]), "master_link_status") == Some("up");
        let in_step = within(PATIENCE, follows).and_then(|()| within(PATIENCE, || linked().then_some(())));
        in_step.expect("a node that was met can be followed");
        replica
    }

    /// Introduces each node to each other, as hearsay about a third would take seconds more.
    fn meet(&self) {
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            let port = self.nodes[second].port().to_string();
            self.nodes[first].reply(&["CLUSTER", "MEET", "127.0.0.1", &port]).granted();
        }
    }
}

/// The address of a cluster as clients take it.
pub(crate) fn url<'a>(nodes: impl IntoIterator<Item = &'a Redis>) -> String {
    let nodes = nodes.into_iter().map(|node| format!("127.0.0.1:{}", node.port()));
    format!("redis+cluster://{}", nodes.collect::<Vec<_>>().join(","))
}

fn knows_every_slot(node: &Redis) -> bool {
    field(&node.call(&["CLUSTER", "INFO"]), "cluster_state") == Some("ok")
}

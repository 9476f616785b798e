//! A cluster of three primaries with a replica each, whose roles change.

use std::{thread, time::Duration};

use crate::{
    cluster::{self, Cluster},
    patience::within,
    redis::Redis,
    reply::Reply,
};

const PATIENCE: Duration = Duration::from_secs(30);

const PLACES: usize = 3;

/// After so long a silent primary is taken for dead; a dead one is in nobody's way but its own clients'.
const SETTINGS: &[&str] = &["--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no"];

/// How many keys are moved at a time.
const BATCH: &str = "20";

/// How long a move waits for the other node, in milliseconds, and how long for another attempt.
const MIGRATE: &str = "1000";
const PAUSE: Duration = Duration::from_millis(10);

/// A cluster of one's own, which ends as [`Redis`] does. A place is a pair of nodes, of which one is the primary.
#[derive(Debug)]
pub struct Replicated {
    cluster: Cluster,
    replicas: Vec<Redis>,
}

impl Replicated {
    /// How many primaries there are, each with a replica.
    pub const PLACES: usize = PLACES;

    /// Starts six nodes, and waits until each slot has a node and each replica what its primary has.
    ///
    /// # Panics
    ///
    /// If that takes more than twenty seconds.
    pub fn start() -> Self {
        let cluster = Cluster::with(SETTINGS);
        let replicas = thread::scope(|scope| {
            let start = |place| {
                let cluster = &cluster;
                scope.spawn(move || cluster.replica(place))
            };
            let started: Vec<_> = (0..PLACES).map(start).collect();
            started.into_iter().map(|replica| replica.join().expect("it follows")).collect()
        });
        let pairs = Self { cluster, replicas };
        pairs.settle();
        pairs
    }

    /// The address as clients take it.
    pub fn url(&self) -> String {
        cluster::url(self.nodes())
    }

    /// All six nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &Redis> {
        self.cluster.nodes().iter().chain(&self.replicas)
    }

    /// Which node of `place` is its primary.
    ///
    /// # Panics
    ///
    /// If neither of them says so within half a minute.
    pub fn primary(&self, place: usize) -> &Redis {
        let primary = within(PATIENCE, || self.pair(place).into_iter().find(|node| self.leads(node, place)));
        primary.expect("one of two nodes is the primary")
    }

    /// Has the replica of `place` take over while both nodes run, and waits until all nodes know.
    ///
    /// # Panics
    ///
    /// If that takes more than half a minute.
    pub fn fail_over(&self, place: usize) {
        let (primary, replica) = self.roles(place);
        // A replica that is not in step refuses, or gives up.
        let asks = || {
            replica.call(&["CLUSTER", "FAILOVER"]);
            within(PAUSE * 100, || leads(replica).then_some(()))
        };
        within(PATIENCE, asks).expect("a replica in step takes over");
        within(PATIENCE, || follows(primary).then_some(())).expect("who was the primary follows");
        self.settle();
    }

    /// Kills the primary of `place`, waits until its replica has taken over, and brings the dead node back as the
    /// replica of that.
    ///
    /// # Panics
    ///
    /// If that takes more than a minute.
    pub fn kill_primary(&self, place: usize) {
        let (primary, replica) = self.roles(place);
        primary.kill();
        within(PATIENCE, || leads(replica).then_some(())).expect("the replica of a dead node takes over");
        primary.restart();
        within(PATIENCE, || follows(primary).then_some(())).expect("a node that comes back follows");
        self.settle();
    }

    /// Moves a slot with its keys to the node after the one that has it, while both are in use.
    ///
    /// # Panics
    ///
    /// If that takes more than half a minute.
    pub fn move_slot(&self, slot: u16) {
        let name = slot.to_string();
        let place = (0..PLACES).find(|&place| owns(self.primary(place), slot)).expect("a node has the slot");
        let [from, to] = [place, (place + 1) % PLACES].map(|place| self.primary(place));
        let [source, target] = [from, to].map(|node| node.call(&["CLUSTER", "MYID"]));
        to.reply(&["CLUSTER", "SETSLOT", &name, "IMPORTING", &source]).granted();
        from.reply(&["CLUSTER", "SETSLOT", &name, "MIGRATING", &target]).granted();
        within(PATIENCE, || carry(from, to, &name))
            .unwrap_or_else(|| panic!("keys of slot {slot} stay: {}", from.call(&["ROLE"])));
        // The new node first: from the moment it knows, nobody is sent in a circle.
        for node in [to, from].into_iter().chain((0..PLACES).map(|place| self.primary(place))) {
            node.reply(&["CLUSTER", "SETSLOT", &name, "NODE", &target]).granted();
        }
        let known = || {
            (0..PLACES)
                .all(|place| owns(self.primary(place), slot) == (self.primary(place).port() == to.port()))
        };
        within(PATIENCE, || known().then_some(())).expect("the nodes agree whose the slot is");
    }

    /// The slot of `key`.
    ///
    /// # Panics
    ///
    /// If the node does not answer with a number.
    pub fn slot(&self, key: &str) -> u16 {
        let slot = self.primary(0).call(&["CLUSTER", "KEYSLOT", key]);
        slot.parse().unwrap_or_else(|_| panic!("the slot of {key} is {slot}"))
    }

    /// The keys that would stay for ever; a replica has those of its primary.
    pub fn keys_without_expiry(&self) -> Vec<String> {
        (0..PLACES).flat_map(|place| self.primary(place).keys_without_expiry()).collect()
    }

    fn pair(&self, place: usize) -> [&Redis; 2] {
        [&self.cluster.nodes()[place], &self.replicas[place]]
    }

    /// The primary of `place`, then its replica.
    fn roles(&self, place: usize) -> (&Redis, &Redis) {
        let primary = self.primary(place);
        let replica = self.pair(place).into_iter().find(|node| node.port() != primary.port());
        (primary, replica.expect("a pair has two nodes"))
    }

    fn leads(&self, node: &Redis, place: usize) -> bool {
        leads(node) && !self.pair(place).into_iter().any(|other| other.port() != node.port() && leads(other))
    }

    /// Waits until every replica has a link to its primary, and every node a node for each slot.
    fn settle(&self) {
        let settled = |node: &Redis| {
            let ok = node.field_of(&["CLUSTER", "INFO"], "cluster_state").is_some_and(|state| state == "ok");
            ok && (leads(node) || follows(node))
        };
        let all = within(PATIENCE, || self.nodes().all(settled).then_some(()));
        assert!(all.is_some(), "no cluster:\n{}", self.primary(0).call(&["CLUSTER", "NODES"]));
    }
}

fn leads(node: &Redis) -> bool {
    node.field("replication", "role").is_some_and(|role| role == "master")
}

fn follows(node: &Redis) -> bool {
    node.field("replication", "master_link_status").is_some_and(|link| link == "up")
}

/// Whether a node takes a slot for its own.
fn owns(node: &Redis, slot: u16) -> bool {
    let nodes = node.call(&["CLUSTER", "NODES"]);
    let own = nodes.lines().find(|line| line.contains("myself")).expect("a node knows itself");
    let ranges = own.split(' ').skip(8).filter(|range| !range.starts_with('['));
    let holds = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let bound = |text: &str| text.parse::<u16>().expect("slots are numbers");
        (bound(first)..=bound(last)).contains(&slot)
    };
    ranges.into_iter().any(holds)
}

/// Moves some keys; something once none is left.
fn carry(from: &Redis, to: &Redis, slot: &str) -> Option<()> {
    let Reply::Array(keys) = from.reply(&["CLUSTER", "GETKEYSINSLOT", slot, BATCH]).granted() else {
        unreachable!("the keys of a slot are an array")
    };
    if keys.is_empty() {
        return Some(());
    }
    let (port, keys) = (to.port().to_string(), keys.iter().map(Reply::to_string).collect::<Vec<_>>());
    let mut command = vec!["MIGRATE", "127.0.0.1", &port, "", "0", MIGRATE, "REPLACE", "KEYS"];
    command.extend(keys.iter().map(String::as_str));
    // What times out is tried again, as are keys that have ended meanwhile.
    from.call(&command);
    thread::sleep(PAUSE);
    None
}

//! A slot that goes to another node while it is in use.

use std::time::Duration;

use forebay::cache::Invalidated;
use forebay_rig::Cluster;

use crate::stage::{Stage, does, key, place, slot};

/// So much that no answer is late because the machine is busy.
const BUDGET: Duration = Duration::from_secs(1);

/// A slot on its way from one node to another.
pub(crate) struct Move<'a> {
    cluster: &'a Cluster,
    slot: String,
    from: usize,
    to: usize,
}

impl<'a> Move<'a> {
    pub(crate) fn of(cluster: &'a Cluster, id: &str) -> Self {
        let from = place(cluster, id);
        Self { cluster, slot: slot(cluster, id).to_string(), from, to: (from + 1) % 3 }
    }

    fn name(&self, place: usize) -> String {
        self.cluster.nodes()[place].call(&["CLUSTER", "MYID"])
    }

    fn set(&self, at: usize, what: &[&str]) {
        does(&self.cluster.nodes()[at], &[&["CLUSTER", "SETSLOT", &self.slot], what].concat());
    }

    /// From now on keys that the old node has not are asked for at the new one.
    pub(crate) fn begin(&self) {
        self.set(self.to, &["IMPORTING", &self.name(self.from)]);
        self.set(self.from, &["MIGRATING", &self.name(self.to)]);
    }

    /// Moves a key.
    pub(crate) fn carry(&self, key: &str) {
        let [from, to] = [self.from, self.to].map(|at| &self.cluster.nodes()[at]);
        does(from, &["MIGRATE", "127.0.0.1", &to.port().to_string(), key, "0", "5000"]);
    }

    /// From now on every key is the new node's.
    pub(crate) fn end(&self) {
        let name = self.name(self.to);
        for at in [self.to, self.from, 3 - self.from - self.to] {
            self.set(at, &["NODE", &name]);
        }
    }

    /// Whether the new node has `key`.
    pub(crate) fn has_arrived(&self, key: &str) -> bool {
        self.cluster.nodes()[self.to].call(&["EXISTS", key]) == "1"
    }
}

#[tokio::test]
async fn a_value_that_is_moved_is_found_all_the_while() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let slot = Move::of(&cluster, "a");
    // A put would be done again at the new node, which may lack it.
    stage.fill("a", "kept", &cluster.nodes()[slot.from]).await;
    slot.begin();
    assert_eq!(stage.read("a", "loaded").await, "kept", "it has not been moved yet");
    slot.carry(&key("a"));
    assert_eq!(stage.read("a", "loaded").await, "kept", "it is asked for at the new node");
    slot.end();
    // Nothing is taken from a node while what it may lack is not known.
    stage.read("a", "loaded").await;
    assert_eq!(stage.read("a", "loaded").await, "kept", "the new node has it");
}

#[tokio::test]
async fn what_is_invalidated_while_its_slot_moves_is_old_for_nobody() {
    for carried in [false, true] {
        let cluster = Cluster::start();
        let stage = Stage::at(cluster.url(), BUDGET).await;
        stage.in_use().await;
        stage.put("a", "old").await;
        let slot = Move::of(&cluster, "a");
        slot.begin();
        if carried {
            slot.carry(&key("a"));
        }
        // A node that has some of the keys of a script only refuses it: then it waits for the end of the move.
        let done = stage.cache.invalidate("a").await;
        println!("value carried: {carried}, invalidated: {done:?}, {:?}", stage.status());
        assert_eq!(stage.read("a", "new").await, "new");
        assert!(stage.status().usable, "{:?}", stage.status());
        if slot.cluster.nodes()[slot.from].call(&["EXISTS", &key("a")]) == "1" {
            slot.carry(&key("a"));
        }
        slot.end();
        assert_eq!(stage.read("a", "new").await, "new");
        stage.settled().await;
        assert_eq!(stage.read("a", "new").await, "new");
        stage.put("a", "newer").await;
        assert!(slot.has_arrived(&key("a")));
        assert_eq!(stage.read("a", "loaded").await, "newer");
        assert_eq!(stage.cache.invalidate("a").await, Invalidated::Everywhere);
        assert_eq!(stage.read("a", "newest").await, "newest");
    }
}

#[tokio::test]
async fn what_is_loaded_while_its_slot_moves_harms_nobody() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    stage.put("a", "kept").await;
    stage.cache.invalidate("a").await;
    let slot = Move::of(&cluster, "a");
    slot.begin();
    for n in 0..20 {
        assert_eq!(stage.read("a", &n.to_string()).await, stage.read("a", &n.to_string()).await);
    }
    slot.end();
    stage.put("a", "new").await;
    assert!(slot.has_arrived(&key("a")));
    assert_eq!(stage.read("a", "loaded").await, "new");
}

#[tokio::test]
async fn a_process_without_the_news_is_sent_to_the_new_node() {
    let cluster = Cluster::start();
    let stage = Stage::at(cluster.url(), BUDGET).await;
    stage.in_use().await;
    let slot = Move::of(&cluster, "a");
    slot.begin();
    slot.end();
    assert_eq!(stage.read("a", "new").await, "new");
    stage.put("a", "newer").await;
    assert!(slot.has_arrived(&key("a")));
    assert_eq!(stage.cache.invalidate("a").await, Invalidated::Everywhere);
    assert!(!slot.has_arrived(&key("a")));
}

//! Keeps the topology of a cluster: asks any node that answers for the slots, and starts a supervisor per node.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::stream::{self, StreamExt};
use redis::{ConnectionInfo, Value, cmd};
use tokio::sync::{Notify, watch};

use super::{
    Tools,
    address::Address,
    home::Home,
    lane::{FIRST_PAUSE, LAST_PAUSE},
    link::{CONNECT, connect},
    node::Node,
    topology::Topology,
};
use crate::sync::Mutex;

/// How often the slots are asked for when nothing is amiss; a refused call asks at once.
const ROUTINE: Duration = Duration::from_secs(15);

/// How many seeds are asked at a time.
const SEEDS: usize = 16;

/// The least pause between two looks.
const BETWEEN: Duration = Duration::from_millis(20);

/// How often while a node is down: its slots may have gone to another.
const ALARMED: Duration = Duration::from_millis(500);

/// The nodes of a cluster by name, and the task that keeps the topology.
#[derive(Debug)]
pub(super) struct Cluster {
    address: Address,
    topology: watch::Sender<Arc<Topology>>,
    nodes: Mutex<HashMap<String, Arc<Node>>>,
    look: Notify,
    known: AtomicBool,
    /// Whether the last look was in vain.
    failed: AtomicBool,
    tools: Tools,
}

/// First slot, last slot, host and port.
type Range = (u16, u16, String, u16);

impl Cluster {
    pub(super) fn start(address: Address, topology: watch::Sender<Arc<Topology>>, tools: Tools) -> Arc<Self> {
        let cluster = Arc::new(Self {
            address,
            topology,
            nodes: Mutex::default(),
            look: Notify::new(),
            known: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            tools,
        });
        let kept = cluster.clone();
        cluster.tools.tasks.spawn(async move {
            tokio::select! {
                () = kept.keep() => {}
                () = kept.tools.tasks.stopping() => {}
            }
        });
        cluster
    }

    /// Whether the slots have ever been told.
    pub(super) fn has_answered(&self) -> bool {
        self.known.load(Relaxed)
    }

    /// Whether the last look was in vain.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Asks for the slots soon: somebody was sent elsewhere.
    pub(super) fn look_again(&self) {
        self.look.notify_one();
    }

    /// The node of this `host:port`.
    pub(super) fn node(&self, name: &str) -> Option<Arc<Node>> {
        let (host, port) = name.rsplit_once(':')?;
        Some(self.node_at(host, port.parse().ok()?))
    }

    fn node_at(&self, host: &str, port: u16) -> Arc<Node> {
        let name = format!("{host}:{port}");
        let home = || Home::fixed(self.address.sibling(host, port));
        let start = || Node::start(name.clone(), home(), self.tools.clone());
        self.nodes.lock().entry(name.clone()).or_insert_with(start).clone()
    }

    async fn keep(&self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let refreshed = self.refresh().await;
            self.failed.store(!refreshed, Relaxed);
            if refreshed {
                pause = FIRST_PAUSE;
                // What everybody is sent elsewhere for is asked for once.
                self.tools.clock.sleep(BETWEEN).await;
                let alarmed = self.topology.borrow().nodes().iter().any(|node| node.is_down());
                let rest = self.tools.clock.sleep(if alarmed { ALARMED } else { ROUTINE });
                tokio::select! {
                    () = rest => {}
                    () = self.look.notified() => {}
                    () = self.went_down() => {}
                }
            } else {
                self.tools.clock.sleep(pause).await;
                pause = (pause * 2).min(LAST_PAUSE);
            }
        }
    }

    /// Completes when a node is down that was not.
    async fn went_down(&self) {
        let nodes = self.topology.borrow().nodes();
        let before: Vec<bool> = nodes.iter().map(|node| node.is_down()).collect();
        loop {
            self.tools.clock.sleep(ALARMED).await;
            if nodes.iter().zip(&before).any(|(node, before)| node.is_down() && !before) {
                return;
            }
        }
    }

    async fn refresh(&self) -> bool {
        // Who knows nothing yet asks all, so that none keeps the callers waiting.
        let at_a_time = if self.has_answered() { 1 } else { SEEDS };
        let asks = stream::iter(self.candidates())
            .map(|home| async move { self.tools.clock.timeout(CONNECT, slots(&home)).await.flatten() });
        let answers = asks.buffer_unordered(at_a_time).filter_map(std::future::ready);
        if let Some(ranges) = pin!(answers).next().await {
            self.take(ranges);
            return true;
        }
        if !self.known.load(Relaxed) {
            self.tools.journal.warn("cluster", "no node answers");
        }
        false
    }

    /// Whom to ask: nodes in use first, then the seeds.
    fn candidates(&self) -> Vec<Home> {
        let nodes = self.topology.borrow().nodes();
        let usable = nodes.iter().filter(|node| !node.is_down()).map(|node| node.home.clone());
        usable.chain(self.address.seeds.iter().cloned().map(Home::fixed)).collect()
    }

    fn take(&self, ranges: Vec<Range>) {
        let ranges: Vec<_> = ranges
            .into_iter()
            .map(|(first, last, host, port)| (first, last, self.node_at(&host, port)))
            .collect();
        let new = Arc::new(Topology::of(ranges));
        let known = self.known.swap(true, Relaxed);
        if known && !new.agrees(&self.topology.borrow()) {
            self.tools.hooks.server_changed();
        }
        self.leave(&new);
        self.topology.send_replace(new);
    }

    /// Leaves the nodes that have no slots any more.
    fn leave(&self, topology: &Topology) {
        let kept = topology.nodes();
        self.nodes.lock().retain(|_, node| {
            let stays = kept.iter().any(|other| Arc::ptr_eq(other, node));
            if !stays {
                node.stop();
            }
            stays
        });
    }
}

/// Asks one node for all slots; nothing unless it knows some.
async fn slots(home: &Home) -> Option<Vec<Range>> {
    let info = home.find().await.ok()?;
    let mut connection = connect(&info, |_| ()).await.ok()?;
    let answer = connection.send_packed_command(cmd("CLUSTER").arg("SLOTS")).await.ok()?;
    let Value::Array(ranges) = answer else { return None };
    let ranges: Vec<Range> = ranges.into_iter().filter_map(|range| read(range, &info)).collect();
    (!ranges.is_empty()).then_some(ranges)
}

/// `[first, last, [host, port, …], …]`, the primary first; a host that is not given is the one asked.
fn read(range: Value, asked: &ConnectionInfo) -> Option<Range> {
    let Value::Array(parts) = range else { return None };
    let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = &*parts else { return None };
    let [host, Value::Int(port), ..] = &**primary else { return None };
    let host = match host {
        Value::BulkString(host) if !host.is_empty() => String::from_utf8(host.clone()).ok()?,
        _ => match asked.addr() {
            redis::ConnectionAddr::Tcp(host, _) | redis::ConnectionAddr::TcpTls { host, .. } => host.clone(),
            _ => return None,
        },
    };
    let slot = |number: &i64| u16::try_from(*number).ok();
    Some((slot(first)?, slot(last)?, host, u16::try_from(*port).ok()?))
}

//! The one subscription of a `Forebay`: a connection of its own, there again whenever it can be, which tells
//! when it was deaf.

use std::{fmt, sync::Arc};

use redis::{ConnectionAddr, PushInfo, PushKind, Value, aio::MultiplexedConnection};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    Tools,
    home::Home,
    lane::{FIRST_PAUSE, LAST_PAUSE},
    link::{CONNECT, connect},
    topology::Topology,
};
use crate::sync::Mutex;

/// What a channel tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal<'a> {
    /// From now on every message is heard.
    Confirmed,
    Message(&'a [u8]),
    /// From now on none is, until the next confirmation.
    Lost,
}

type Ear = Arc<dyn Fn(Signal<'_>) + Send + Sync>;

/// Who hears which channel.
#[derive(Default)]
pub(super) struct Channels {
    ears: Mutex<Vec<(String, Ear)>>,
    anew: Notify,
}

impl Channels {
    pub(super) fn add(&self, channel: String, ear: Ear) {
        self.ears.lock().push((channel, ear));
    }

    pub(super) fn begin_anew(&self) {
        self.anew.notify_one();
    }

    fn names(&self) -> Vec<String> {
        self.ears.lock().iter().map(|(name, _)| name.clone()).collect()
    }

    fn ears(&self, channel: Option<&[u8]>) -> Vec<Ear> {
        let ears = self.ears.lock();
        let meant = |name: &str| channel.is_none_or(|channel| channel == name.as_bytes());
        ears.iter().filter(|(name, _)| meant(name)).map(|(_, ear)| ear.clone()).collect()
    }

    /// Passes on what the server pushes.
    fn hear(&self, push: &PushInfo) {
        let Some(Value::BulkString(channel)) = push.data.first() else { return };
        match (&push.kind, push.data.get(1)) {
            (PushKind::Message, Some(Value::BulkString(message))) => {
                self.tell(Some(channel), Signal::Message(message));
            }
            (PushKind::Subscribe, _) => self.tell(Some(channel), Signal::Confirmed),
            _ => {}
        }
    }

    fn tell(&self, channel: Option<&[u8]>, signal: Signal<'_>) {
        for ear in self.ears(channel) {
            ear(signal);
        }
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").field("names", &self.names()).finish_non_exhaustive()
    }
}

/// A connection that hears, and where it leads.
struct Subscribed {
    connection: MultiplexedConnection,
    lost: CancellationToken,
    home: Home,
    place: ConnectionAddr,
}

/// The task that subscribes.
pub(super) struct Subscription {
    /// Where to subscribe while no node is in use.
    homes: Vec<Home>,
    channels: Arc<Channels>,
    topology: watch::Receiver<Arc<Topology>>,
    tools: Tools,
    attempts: usize,
}

impl Subscription {
    pub(super) fn start(
        homes: Vec<Home>,
        channels: Arc<Channels>,
        topology: watch::Receiver<Arc<Topology>>,
        tools: Tools,
    ) {
        let tasks = tools.tasks.clone();
        let mut subscription = Self { homes, channels, topology, tools, attempts: 0 };
        tasks.clone().spawn(async move {
            tokio::select! {
                () = subscription.keep() => {}
                () = tasks.stopping() => {}
            }
            subscription.channels.tell(None, Signal::Lost);
        });
    }

    async fn keep(&mut self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let names = self.channels.names();
            match self.subscribe(&names).await {
                Some(Subscribed { connection, lost, home, place }) => {
                    pause = FIRST_PAUSE;
                    tokio::select! {
                        () = lost.cancelled() => {}
                        () = self.channels.anew.notified() => {}
                        () = home.leaves(&place) => {}
                    }
                    lost.cancel();
                    drop(connection);
                    self.channels.tell(None, Signal::Lost);
                }
                None => {
                    self.tools.clock.sleep(pause.mul_f64(1.0 + 0.2 * self.tools.dice.swing())).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                }
            }
        }
    }

    /// Subscribes to `names`; the connection lasts until it is dropped.
    async fn subscribe(&mut self, names: &[String]) -> Option<Subscribed> {
        let lost = CancellationToken::new();
        let (channels, disconnected) = (self.channels.clone(), lost.clone());
        let told = move |push: PushInfo| match push.kind {
            PushKind::Disconnection => disconnected.cancel(),
            // A connection that was given up may still have something to say.
            _ if disconnected.is_cancelled() => {}
            _ => channels.hear(&push),
        };
        let home = self.candidate();
        let subscribing = async {
            let info = home.find().await.ok()?;
            let mut connection = connect(&info, told).await.ok()?;
            connection.subscribe(names).await.ok()?;
            Some((connection, info.addr().clone()))
        };
        let subscribed = self.tools.clock.timeout(CONNECT, subscribing).await.flatten();
        if subscribed.is_none() {
            lost.cancel();
            self.channels.tell(None, Signal::Lost);
        }
        let (connection, place) = subscribed?;
        Some(Subscribed { connection, lost, home, place })
    }

    /// A node that is in use, another at each attempt; else a seed.
    fn candidate(&mut self) -> Home {
        self.attempts += 1;
        let nodes = self.topology.borrow().nodes();
        let mut homes: Vec<_> =
            nodes.iter().filter(|node| !node.is_down()).map(|node| node.home.clone()).collect();
        if homes.is_empty() {
            homes.clone_from(&self.homes);
        }
        homes.swap_remove(self.attempts % homes.len())
    }
}

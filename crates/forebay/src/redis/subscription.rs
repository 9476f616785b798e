//! The one subscription of a `Forebay`: a connection of its own, there again whenever it can be, which tells
//! when it was deaf.

use std::{collections::HashMap, fmt, sync::Arc};

use redis::{ConnectionAddr, PushInfo, PushKind, RedisResult, Value, aio::MultiplexedConnection};
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
    ears: Mutex<Ears>,
    changed: Notify,
    anew: Notify,
}

/// The ears by their channels, each with a number of its own.
#[derive(Default)]
struct Ears {
    by_channel: HashMap<String, Vec<(u64, Ear)>>,
    last: u64,
}

/// What is subscribed to, with the number of the latest ear.
type Names = HashMap<String, u64>;

/// A channel that is heard until this is dropped.
pub(crate) struct Tuned {
    channels: Arc<Channels>,
    channel: String,
    number: u64,
}

impl Tuned {
    pub(super) fn to(channels: Arc<Channels>, channel: String, ear: Ear) -> Self {
        let number = channels.add(channel.clone(), ear);
        channels.changed.notify_one();
        Self { channels, channel, number }
    }
}

impl Drop for Tuned {
    fn drop(&mut self) {
        self.channels.remove(&self.channel, self.number);
        self.channels.changed.notify_one();
    }
}

impl fmt::Debug for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tuned").field("channel", &self.channel).finish_non_exhaustive()
    }
}

impl Channels {
    pub(super) fn add(&self, channel: String, ear: Ear) -> u64 {
        let mut ears = self.ears.lock();
        ears.last += 1;
        let number = ears.last;
        ears.by_channel.entry(channel).or_default().push((number, ear));
        number
    }

    fn remove(&self, channel: &str, number: u64) {
        let mut ears = self.ears.lock();
        if let Some(of_channel) = ears.by_channel.get_mut(channel) {
            of_channel.retain(|(present, _)| *present != number);
            if of_channel.is_empty() {
                ears.by_channel.remove(channel);
            }
        }
    }

    pub(super) fn begin_anew(&self) {
        self.anew.notify_one();
    }

    fn names(&self) -> Names {
        let latest = |ears: &[(u64, Ear)]| ears.last().map_or(0, |(number, _)| *number);
        self.ears.lock().by_channel.iter().map(|(name, ears)| (name.clone(), latest(ears))).collect()
    }

    fn ears(&self, channel: Option<&[u8]>) -> Vec<Ear> {
        let ears = self.ears.lock();
        let ear = |(_, ear): &(u64, Ear)| ear.clone();
        let Some(channel) = channel else { return ears.by_channel.values().flatten().map(ear).collect() };
        let named = str::from_utf8(channel).ok().and_then(|name| ears.by_channel.get(name));
        named.into_iter().flatten().map(ear).collect()
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
        f.debug_struct("Channels").field("names", &self.names().keys()).finish_non_exhaustive()
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
                        () = self.follow(connection, names) => {}
                    }
                    lost.cancel();
                    self.channels.tell(None, Signal::Lost);
                }
                None => {
                    self.tools.clock.sleep(pause.mul_f64(1.0 + 0.2 * self.tools.dice.swing())).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                }
            }
        }
    }

    /// Subscribes to what is added and ends what is removed, until that does not succeed.
    async fn follow(&self, mut connection: MultiplexedConnection, mut names: Names) {
        loop {
            self.channels.changed.notified().await;
            let wanted = self.channels.names();
            let changing = change(&mut connection, &names, &wanted);
            if !matches!(self.tools.clock.timeout(CONNECT, changing).await, Some(Ok(()))) {
                return;
            }
            names = wanted;
        }
    }

    /// Subscribes to `names`; the connection lasts until it is dropped.
    async fn subscribe(&mut self, names: &Names) -> Option<Subscribed> {
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
            change(&mut connection, &Names::new(), names).await.ok()?;
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

/// An ear that is new is told that its channel is heard, also where another ear has heard it before.
async fn change(connection: &mut MultiplexedConnection, from: &Names, to: &Names) -> RedisResult<()> {
    let new: Vec<_> = to.iter().filter(|(name, number)| from.get(*name) != Some(number)).collect();
    if !new.is_empty() {
        connection.subscribe(new.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>()).await?;
    }
    let gone: Vec<_> = from.keys().filter(|name| !to.contains_key(*name)).map(String::as_str).collect();
    if !gone.is_empty() {
        connection.unsubscribe(gone).await?;
    }
    Ok(())
}

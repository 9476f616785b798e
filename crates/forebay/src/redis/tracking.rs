//! Which nodes tell of every write below one prefix: `CLIENT TRACKING` in broadcasting mode.
//!
//! A node tells over the connection by which it is read. So it tells for exactly as long, and what it tells comes behind
//! what was read before the write.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt,
    future::pending,
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use redis::{PushInfo, PushKind, Value, cmd};
use tokio::sync::watch;

use super::{Tools, courier::Courier};
use crate::sync::Mutex;

/// How often a node that tells is asked whether it is still heard.
const BETWEEN: Duration = Duration::from_millis(500);

/// For how long it is believed without an answer. A hole is found within this and [`BETWEEN`], whatever the budget of
/// calls: earlier than a message on the bus that was lost.
const UNANSWERED: Duration = Duration::from_millis(900);

/// What is told of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written<'a> {
    /// What is under this key was written or removed, or has ended.
    Key(&'a [u8]),
    /// Everything may have been.
    All,
    /// From now on all writes are told, or some may not be.
    Told(bool),
}

type Ear = Box<dyn Fn(Written<'_>) + Send + Sync>;

/// How a node stands that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It was not asked to tell, or has not answered, or not lately.
    Silent,
    Telling,
    /// It will not tell. Nobody waits for it to.
    Refusing,
    /// The connection is gone, and another may be read instead.
    Lost,
}

/// The nodes that can be read, by their numbers.
#[derive(Debug, Default)]
struct State {
    nodes: HashMap<u64, (u64, Standing)>,
    /// The last number of a node or of a connection.
    last: u64,
    /// What the ear was told last.
    told: Option<bool>,
}

/// Whether all nodes that can be read tell of writes.
#[derive(Default)]
pub(super) struct Tracking {
    ear: OnceLock<(String, Ear)>,
    wanted: watch::Sender<bool>,
    state: Mutex<State>,
}

impl Tracking {
    /// Has `ear` told of writes below `prefix`, once they are wanted.
    pub(super) fn attach(&self, prefix: String, ear: Ear) {
        self.ear.set((prefix, ear)).ok();
    }

    /// Asks every node to tell, now and whenever it is connected.
    pub(super) fn begin(&self) {
        let mut state = self.state.lock();
        self.wanted.send_replace(true);
        self.settle(&mut state);
    }

    /// Whether there are nodes that can be read, and each tells of writes, if that is wanted.
    pub(super) fn is_complete(&self) -> Option<bool> {
        let state = self.state.lock();
        let tells = |(_, standing): &(u64, Standing)| *standing == Standing::Telling;
        let complete = || !state.nodes.is_empty() && state.nodes.values().all(tells);
        self.wanted.borrow().then(complete)
    }

    /// A number for a node.
    pub(super) fn number(&self) -> u64 {
        let mut state = self.state.lock();
        state.last += 1;
        state.last
    }

    /// What comes over the next connection to `node`.
    pub(super) fn wire(self: &Arc<Self>, node: u64) -> Wire {
        Wire { tracking: self.clone(), node, link: self.number() }
    }

    /// Nobody reads `node` until it is connected anew.
    pub(super) fn is_down(&self, node: u64) {
        self.change(|nodes| {
            nodes.remove(&node);
        });
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<u64, (u64, Standing)>)) {
        let mut state = self.state.lock();
        change(&mut state.nodes);
        self.settle(&mut state);
    }

    /// Tells the ear where that is news, in the order in which things have changed.
    fn settle(&self, state: &mut State) {
        let counts = |standing| matches!(standing, Standing::Telling | Standing::Refusing);
        let told = state.nodes.values().all(|(_, standing)| counts(*standing));
        if *self.wanted.borrow() && state.told.replace(told) != Some(told) {
            self.tell(Written::Told(told));
        }
    }

    fn tell(&self, written: Written<'_>) {
        if let Some((_, ear)) = self.ear.get() {
            ear(written);
        }
    }
}

impl fmt::Debug for Tracking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracking").field("state", &self.state).finish_non_exhaustive()
    }
}

/// One connection by which a node is read.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    tracking: Arc<Tracking>,
    node: u64,
    link: u64,
}

impl Wire {
    /// From now on the node may be read.
    pub(super) fn open(&self) {
        self.tracking.change(|nodes| {
            nodes.insert(self.node, (self.link, Standing::Silent));
        });
    }

    /// It is gone, or nobody is to rely on it any more.
    pub(super) fn lose(&self) {
        self.stand(|_| true, Standing::Lost);
    }

    /// Passes on what the server pushes.
    pub(super) fn hear(&self, push: &PushInfo) {
        match (&push.kind, &*push.data) {
            (PushKind::Disconnection, _) => self.lose(),
            (PushKind::Invalidate, [Value::Array(keys)]) => {
                for key in keys {
                    if let Value::BulkString(key) = key {
                        self.tracking.tell(Written::Key(key));
                    }
                }
            }
            (PushKind::Invalidate, _) => self.tracking.tell(Written::All),
            _ => {}
        }
    }

    /// Has the node tell of writes once that is wanted. It may take as long to answer as it keeps the connection.
    pub(super) async fn keep(&self, courier: &Courier, tools: &Tools) -> Infallible {
        let mut wanted = self.tracking.wanted.subscribe();
        if wanted.wait_for(|wanted| *wanted).await.is_ok()
            && let Some((prefix, _)) = self.tracking.ear.get()
        {
            let mut command = cmd("CLIENT");
            command.arg(&["TRACKING", "ON", "BCAST", "PREFIX", prefix]);
            match courier.ask(vec![command]).await.as_deref() {
                Ok([Value::Okay]) => {
                    tools.journal.recovered("tracking");
                    self.answered(Standing::Telling);
                    self.watch(courier, tools).await;
                }
                Ok(answers) => {
                    tools.journal.warn("tracking", &refusal(answers));
                    self.answered(Standing::Refusing);
                }
                Err(_) => {}
            }
        }
        pending().await
    }

    /// Finds out when nothing comes any more, until the connection is lost.
    async fn watch(&self, courier: &Courier, tools: &Tools) {
        loop {
            tools.clock.sleep(BETWEEN).await;
            let mut asked = pin!(courier.ask(vec![cmd("PING")]));
            let answer = match tools.clock.timeout(UNANSWERED, &mut asked).await {
                Some(answer) => answer,
                None => {
                    self.stand(|before| before == Standing::Telling, Standing::Silent);
                    asked.await
                }
            };
            // What was told before has come before.
            match answer {
                Ok(_) => self.answered(Standing::Telling),
                Err(_) => return self.lose(),
            }
        }
    }

    fn answered(&self, standing: Standing) {
        self.stand(|before| before == Standing::Silent, standing);
    }

    /// Unless the node is connected by another one.
    fn stand(&self, may: impl FnOnce(Standing) -> bool, standing: Standing) {
        self.tracking.change(|nodes| {
            if let Some((link, held)) = nodes.get_mut(&self.node)
                && *link == self.link
                && may(*held)
            {
                *held = standing;
            }
        });
    }
}

fn refusal(answers: &[Value]) -> String {
    let code = match answers {
        [Value::ServerError(error)] => error.code(),
        _ => "something else than it should",
    };
    format!("it answers {code} to CLIENT TRACKING; what other programs write below our keys is not heard")
}

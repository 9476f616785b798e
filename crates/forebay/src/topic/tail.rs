//! The one reader of a durable topic in a process, whom all its subscribers follow.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Id,
    cursor::{Cursor, Step},
    durable,
    home::Bell,
    hub::BUFFER,
};

/// How often it is looked for messages of which nothing was heard.
pub(super) const POLL: Duration = Duration::from_secs(1);

/// The pause between attempts to ask a store that cannot be asked.
pub(super) const PAUSE: Duration = Duration::from_millis(250);

/// What the reader tells.
#[derive(Debug, Clone)]
pub(super) enum Told {
    Message(Id, Bytes),
    /// Look for yourself: there may be more than was told.
    Look,
    /// The topic was silent until it ended.
    Ended,
}

#[derive(Debug)]
pub(super) struct Tail {
    told: broadcast::Sender<Told>,
    parted: CancellationToken,
    _parted: DropGuard,
}

impl Tail {
    pub(super) fn new() -> Self {
        let (told, _) = broadcast::channel(BUFFER);
        let parted = CancellationToken::new();
        Self { told, _parted: parted.clone().drop_guard(), parted }
    }

    pub(super) fn follow(&self) -> broadcast::Receiver<Told> {
        self.told.subscribe()
    }

    /// Begins to read, until nobody has the tail any more.
    pub(super) fn begin(self: &Arc<Self>, topic: &Arc<durable::Inner>) {
        let (tail, parted) = (Arc::downgrade(self), self.parted.clone());
        let (topic, bell) = (topic.clone(), topic.home.0.bell(&topic.name));
        let tasks = topic.home.0.context.tasks.clone();
        tasks.clone().spawn(async move {
            tokio::select! {
                () = read(tail, &topic, bell) => {}
                () = parted.cancelled() => {}
                () = tasks.stopping() => {}
            }
        });
    }

    fn tell(&self, step: Step) {
        let told = match step {
            Step::Message(id, payload) => Told::Message(id, payload),
            Step::Unreadable | Step::Missed(_) => Told::Look,
            Step::Ended => Told::Ended,
        };
        // Whether somebody follows makes no difference.
        self.told.send(told).ok();
    }
}

async fn read(tail: Weak<Tail>, topic: &durable::Inner, mut bell: Bell) {
    let mut cursor = Cursor::at_end(topic.retention.keep_for);
    let clock = &topic.home.0.context.clock;
    let mut is_placed = false;
    loop {
        let Ok(page) = topic.read(&cursor).await else {
            clock.sleep(PAUSE).await;
            continue;
        };
        let Some(tail) = tail.upgrade() else { return };
        cursor.take(page, clock.now()).into_iter().for_each(|step| tail.tell(step));
        if !is_placed {
            // What came before this place has been told to nobody.
            tail.told.send(Told::Look).ok();
            is_placed = true;
        }
        drop(tail);
        if cursor.is_level() {
            clock.timeout(POLL, bell.rung()).await;
        }
    }
}

//! What one subscriber hears, at its own pace.

mod resumed;

use std::{fmt, sync::Arc};

use tokio::sync::broadcast::{self, error::RecvError};

use self::resumed::Resumed;
use super::{
    Home, Id, durable,
    hub::Hub,
    message::{Deaf, Heard},
};
use crate::{key::Name, observe::TopicOutcome};

/// The messages of a topic, for one subscriber. It ends when it is dropped.
///
/// Who is slow holds up nobody: at most 1,024 messages wait for it, and are shared by all of the process. Beyond that
/// it misses some, which it is told; of a durable topic it reads them from the store.
pub struct Subscription {
    home: Home,
    topic: Name,
    source: Source,
    last_id: Option<Id>,
}

enum Source {
    Live(Live),
    Durable(Box<Resumed>),
}

/// What is told while it is heard.
struct Live {
    /// Before everything else.
    first: Option<Heard>,
    heard: broadcast::Receiver<Heard>,
    /// The topic is heard for as long as somebody has it.
    _hub: Arc<Hub>,
}

pub(super) async fn live(home: &Home, topic: &Name) -> Subscription {
    let hub = home.0.hub(topic);
    let heard = hub.subscribe();
    let is_heard = home.0.within_patience(hub.hears()).await;
    let first = (!is_heard && hub.is_deaf()).then_some(Heard::Deaf(Deaf::Begins));
    Subscription::new(home, topic, Source::Live(Live { first, heard, _hub: hub }))
}

pub(super) async fn durable_from_now(topic: &Arc<durable::Inner>) -> Subscription {
    let resumed = Resumed::from_now(topic).await;
    Subscription::new(&topic.home, &topic.name, Source::Durable(Box::new(resumed)))
}

pub(super) fn durable_after(topic: &Arc<durable::Inner>, id: Id) -> Subscription {
    let resumed = Resumed::after(topic, id);
    Subscription::new(&topic.home, &topic.name, Source::Durable(Box::new(resumed)))
}

impl Subscription {
    fn new(home: &Home, topic: &Name, source: Source) -> Self {
        let last_id = source.place();
        Self { home: home.clone(), topic: topic.clone(), source, last_id }
    }

    /// The place behind which the next message lies, for [`Durable::subscribe_from`](super::Durable::subscribe_from) in
    /// another life. `None` while that is not known, and of a topic that is not durable.
    #[must_use]
    pub fn last_id(&self) -> Option<Id> {
        self.last_id
    }

    /// Waits for the next message, or for the news that some may have been missed. `None` once the `Forebay` shuts
    /// down. A call that is dropped loses nothing.
    pub async fn next(&mut self) -> Option<Heard> {
        let tasks = &self.home.0.context.tasks;
        let heard = tokio::select! {
            biased;
            () = tasks.stopping() => None,
            heard = self.source.next() => heard,
        }?;
        if let Heard::Message(message) = &heard {
            self.last_id = message.id;
        }
        let (outcome, messages) = match &heard {
            Heard::Message(_) => (TopicOutcome::Delivered, 1),
            Heard::Deaf(Deaf::Missed(missed)) => (TopicOutcome::Missed, missed.unwrap_or(0)),
            Heard::Deaf(_) => (TopicOutcome::Missed, 0),
        };
        self.home.0.note(&self.topic, outcome, messages);
        Some(heard)
    }
}

impl Source {
    fn place(&self) -> Option<Id> {
        match self {
            Self::Live(_) => None,
            Self::Durable(resumed) => resumed.place(),
        }
    }

    async fn next(&mut self) -> Option<Heard> {
        match self {
            Self::Live(live) => live.next().await,
            Self::Durable(resumed) => resumed.next().await,
        }
    }
}

impl Live {
    async fn next(&mut self) -> Option<Heard> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match self.heard.recv().await {
            Ok(heard) => Some(heard),
            Err(RecvError::Lagged(missed)) => Some(Heard::Deaf(Deaf::Missed(Some(missed)))),
            Err(RecvError::Closed) => None,
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("topic", &self.topic).finish_non_exhaustive()
    }
}

//! A topic whose messages are kept for those who come later.

use std::{fmt, sync::Arc};

use super::{
    Home, Id, Retention, Subscription, backend::Page, cursor::Cursor, group, payload, subscription,
    unpublished,
};
use crate::{clock::Moment, error::Error, key::Name, observe::TopicOutcome, redis::Unusable};

/// A topic that keeps its messages for a while. Cheap to clone.
///
/// Messages have one order, in which every subscriber is given them: each once, with none left out that is still kept.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::{Forebay, topic::{Heard, Retention}};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let day = Duration::from_secs(24 * 3600);
/// let orders = forebay.topic("orders").durable(Retention { max_len: 10_000, keep_for: day })?;
///
/// let first = orders.publish("order 1").await?;
/// orders.publish("order 2").await?;
/// let mut later = orders.subscribe_from(first);
/// assert!(matches!(later.next().await, Some(Heard::Message(message)) if message.text() == Some("order 2")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Durable(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) home: Home,
    pub(super) name: Name,
    pub(super) retention: Retention,
}

impl Durable {
    pub(super) fn new(home: Home, name: Name, retention: Retention) -> Self {
        Self(Arc::new(Inner { home, name, retention }))
    }

    /// The name of the topic.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Keeps `message`, of at most [`MOST_BYTES`](super::MOST_BYTES), and returns its place.
    ///
    /// # Errors
    ///
    /// The message is too large, or the store cannot be asked. In the latter case the error says whether it may have
    /// been published all the same: then publishing it again may make it two.
    pub async fn publish(&self, message: impl AsRef<[u8]> + Send) -> Result<Id, Error> {
        let Inner { home, name, retention } = &*self.0;
        let payload = payload(home, message.as_ref())?;
        let id = home.0.backend.append(name, payload, *retention).await.map_err(unpublished)?;
        self.0.note(TopicOutcome::Published, 1);
        Ok(id)
    }

    /// Subscribes to what is published from now on. While the store cannot be asked, "now" is when it first can:
    /// the subscription says so.
    pub async fn subscribe(&self) -> Subscription {
        subscription::durable_from_now(&self.0).await
    }

    /// Subscribes to everything after `id`, which may be that of the last message that was seen, or
    /// [`Id::BEGINNING`] for everything that is kept. Where messages after `id` are no longer kept, that is told first.
    #[must_use]
    pub fn subscribe_from(&self, id: Id) -> Subscription {
        subscription::durable_after(&self.0, id)
    }

    /// Begins a group of consumers (`[a-z0-9._:-]`, at most 64 characters) who share the messages.
    pub fn group(&self, name: &str) -> group::Builder {
        group::Builder::new(self.0.clone(), name)
    }
}

impl Inner {
    pub(super) async fn read(&self, cursor: &Cursor) -> Result<Page, Unusable> {
        self.home.0.backend.read(&self.name, cursor.from()).await
    }

    pub(super) fn now(&self) -> Moment {
        self.home.0.context.clock.now()
    }

    pub(super) fn note(&self, outcome: TopicOutcome, messages: u64) {
        self.home.0.note(&self.name, outcome, messages);
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable")
            .field("name", &self.0.name)
            .field("retention", &self.0.retention)
            .finish_non_exhaustive()
    }
}

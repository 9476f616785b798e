//! "Something happened": messages from one process to all that want to hear them.
//!
//! A [`Topic`] is heard by those who listen at that moment, and nobody else: whoever does not hear for a while is told,
//! so that it can look up elsewhere what it has missed. The messages of one publisher come in their order. A [`Durable`]
//! topic keeps its messages for a while, so that a subscriber resumes where it was, and a [`Group`] of consumers shares
//! them.
//!
//! Over Redis, a topic is a channel that carries messages as they are, so that `PUBLISH` of any program reaches its
//! subscribers. A durable one is a stream, which is published to by this library alone.
//!
//! | to see | read |
//! |---|---|
//! | what is heard | `message`, `subscription` |
//! | how all subscribers of a process share what is heard | `hub`; of a durable topic `tail` |
//! | how it is found that messages are missing | `cursor`, by the numbers in `id` |
//! | how consumers share messages | `group` |
//! | what is asked of a store | `backend`, `redis` (in scripts), `memory` |

mod backend;
mod builder;
mod cursor;
mod durable;
mod group;
mod home;
mod hub;
mod id;
mod memory;
mod message;
mod redis;
mod subscription;
mod tail;

use std::{fmt, sync::Arc};

use bytes::Bytes;

pub use self::{
    builder::{Builder, Retention},
    durable::Durable,
    group::{Builder as GroupBuilder, Consumer, DeadLetter, Delivery, Group, Letter, Returned},
    id::Id,
    message::{Deaf, Heard, Message},
    subscription::Subscription,
};
pub(crate) use self::{home::Home, memory::Streams};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
    observe::{Event, TopicOutcome},
    redis::Unusable,
};

/// The longest message, in bytes.
pub const MOST_BYTES: usize = 64 * 1024;

/// A topic that is heard by those who listen. Cheap to clone.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use forebay::{Forebay, topic::Heard};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let prices = forebay.topic("prices").build()?;
///
/// let mut changes = prices.subscribe().await;
/// prices.publish("p-001").await?;
/// match changes.next().await {
///     Some(Heard::Message(message)) => assert_eq!(message.text(), Some("p-001")),
///     Some(Heard::Deaf(_)) => println!("some may have been missed: all prices are to be looked up"),
///     None => println!("the program ends"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Topic(Arc<Inner>);

struct Inner {
    home: Home,
    name: Name,
}

impl Topic {
    fn new(home: Home, name: Name) -> Self {
        Self(Arc::new(Inner { home, name }))
    }

    /// The name of the topic.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Tells `message`, of at most [`MOST_BYTES`], to those who listen, in all processes. Who that is, nobody knows.
    ///
    /// # Errors
    ///
    /// The message is too large, or the store cannot be asked. In the latter case the error says whether it may have
    /// been published all the same.
    pub async fn publish(&self, message: impl AsRef<[u8]> + Send) -> Result<(), Error> {
        let Inner { home, name } = &*self.0;
        let payload = payload(home, message.as_ref())?;
        home.0.backend.publish(name, payload).await.map_err(unpublished)?;
        home.0.note(name, TopicOutcome::Published, 1);
        Ok(())
    }

    /// Subscribes to what is published once this has returned. Where the store cannot be heard within the budget of a
    /// read, the subscription begins with [`Deaf::Begins`].
    pub async fn subscribe(&self) -> Subscription {
        subscription::live(&self.0.home, &self.0.name).await
    }
}

/// What is to be published, unless it cannot be.
fn payload(home: &Home, message: &[u8]) -> Result<Bytes, Error> {
    if message.len() > MOST_BYTES {
        let why = format!(
            "the message has {} bytes; publish at most {MOST_BYTES}, or where to find it",
            message.len()
        );
        return Err(Error::new(ErrorKind::TooLarge, why));
    }
    if home.0.context.tasks.is_stopping() {
        let why = "this Forebay is being shut down and publishes no more";
        return Err(Error::new(ErrorKind::Unavailable, why));
    }
    Ok(Bytes::copy_from_slice(message))
}

fn unpublished(unusable: Unusable) -> Error {
    let why = match unusable {
        Unusable::NotDone => "the store cannot be asked; nothing was published",
        Unusable::Unanswered => {
            "the store has not answered; the message may have been published, or may be yet"
        }
    };
    Error::new(ErrorKind::Unavailable, why)
}

impl home::Inner {
    fn note(&self, topic: &Name, outcome: TopicOutcome, messages: u64) {
        self.context.observe.record(Event::Topic { topic: topic.as_str(), outcome, messages });
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topic").field("name", &self.0.name).finish_non_exhaustive()
    }
}

//! Consumers who share the messages of a durable topic: each message goes to one of them, until one says that it is done.
//!
//! | to see | read |
//! |---|---|
//! | how messages come | `consumer`, with `workers` for a handler |
//! | what becomes of one | `delivery`, `letter` |
//! | what a consumer and its deliveries share | `desk`, with `keeper` for its end |
//! | what is asked of a store | `backend`, `redis` (in scripts), `memory` |

mod backend;
mod builder;
mod consumer;
mod delivery;
mod desk;
mod keeper;
mod letter;
mod memory;
mod redis;
mod workers;

use std::{fmt, sync::Arc};

pub(super) use self::{
    backend::Backend,
    memory::{DeadLetters, Members},
    redis::RedisBackend,
};
pub use self::{
    builder::Builder,
    consumer::Consumer,
    delivery::{Delivery, Returned},
    letter::{DeadLetter, Letter},
};
use self::{builder::Options, desk::Desk};
use super::{Id, durable};
use crate::{
    error::{Error, ErrorKind},
    key::{Name, encode},
};

/// Consumers who share the messages of a durable topic, in all processes. Cheap to clone.
///
/// Each message is delivered to one consumer. Unless that one acknowledges it within the visibility, or renews that, it
/// is delivered again, to any of them: **at least once**, therefore, and not always in order. It may come again although
/// it was acknowledged, where the server fails over or is restored and has lost that; so do what a message asks for
/// in a way that may be done twice, by a claim or an idempotency key of its id if need be.
///
/// What was delivered [`max_deliveries`](Builder::max_deliveries) times in vain is put aside as a [`DeadLetter`]. What
/// is no longer kept when a consumer comes to it is lost, and counted in
/// [`Event::Topic`](crate::observe::Event::Topic).
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use forebay::{Forebay, topic::Retention};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let day = Duration::from_secs(24 * 3600);
/// let orders = forebay.topic("orders").durable(Retention { max_len: 10_000, keep_for: day })?;
/// let billing = orders.group("billing").build()?;
///
/// orders.publish("order 1").await?;
/// let mut consumer = billing.consumer("host-1");
/// let delivery = consumer.next().await.expect("nobody shuts down");
/// assert_eq!((delivery.text(), delivery.attempts), (Some("order 1"), 1));
/// delivery.ack().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Group(Arc<Inner>);

struct Inner {
    topic: Arc<durable::Inner>,
    name: Name,
    options: Options,
}

impl Group {
    fn new(topic: Arc<durable::Inner>, name: Name, options: Options) -> Self {
        Self(Arc::new(Inner { topic, name, options }))
    }

    /// The name of the group.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name.as_str()
    }

    /// Begins to consume, under a name that no other consumer of the group has at the same time. A program that is
    /// started again under its old name first gets what it was at when it ended.
    ///
    /// The group begins with the first look of its first consumer.
    pub fn consumer(&self, name: &str) -> Consumer {
        let Inner { topic, name: group, options } = &*self.0;
        Consumer::begin(Desk::new(topic.clone(), group.clone(), encode(name).into(), *options))
    }

    /// Reads up to 32 of those that were put aside after `after`, the oldest first; [`Id::BEGINNING`] is before all of
    /// them, and the id of the last one is where to go on. As many are kept as messages are, and for as long, from the
    /// last one on.
    ///
    /// # Errors
    ///
    /// The store cannot be asked.
    pub async fn dead_letters(&self, after: Id) -> Result<Vec<DeadLetter>, Error> {
        let Inner { topic, name, .. } = &*self.0;
        topic.home.0.groups.dead(&topic.name, name, after).await.map_err(|_| unavailable())
    }
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store of the topic cannot be asked")
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("topic", &self.0.topic.name)
            .field("name", &self.0.name)
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

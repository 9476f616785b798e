//! The topics of this server, and how many clients may listen.

use std::{collections::HashMap, sync::Arc};

use forebay::{
    Forebay,
    topic::{Durable, Topic},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    api::AGAIN,
    config::{Config, ConfigError},
    error::{Kind, Problem},
};

/// All topics: those that are declared as durable, and any other that a client names.
#[derive(Debug)]
pub(crate) struct Topics {
    forebay: Forebay,
    durable: HashMap<String, Durable>,
    streams: Arc<Semaphore>,
    most_streams: u32,
}

/// The topic that a call is about.
#[derive(Debug)]
pub(crate) enum Asked {
    Live(Topic),
    Durable(Durable),
}

impl Topics {
    /// Makes the declared topics.
    pub(crate) fn declare(forebay: Forebay, config: &Config) -> Result<Self, ConfigError> {
        let durable = config.topics.durable().map(|(name, retention)| {
            let topic = forebay.topic(name).durable(retention);
            let refuse = |error| config.refuse(format!("`topics.\"{name}\"`: {error}"));
            Ok((name.to_owned(), topic.map_err(refuse)?))
        });
        let durable = durable.collect::<Result<_, _>>()?;
        let most_streams = config.server.event_streams();
        let streams = Arc::new(Semaphore::new(most_streams as usize));
        Ok(Self { forebay, durable, streams, most_streams })
    }

    /// The topic called `name`. It takes no room unless somebody listens, so that there are no more than streams.
    pub(crate) fn find(&self, name: &str) -> Result<Asked, Problem> {
        if let Some(topic) = self.durable.get(name) {
            return Ok(Asked::Durable(topic.clone()));
        }
        let topic = self.forebay.topic(name).build();
        topic.map(Asked::Live).map_err(|error| Problem::new(Kind::InvalidTopic, error.to_string()))
    }

    /// Lets one more client listen, until what this answers is dropped.
    pub(crate) fn seat(&self) -> Result<OwnedSemaphorePermit, Problem> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let most = self.most_streams;
            let detail = format!(
                "{most} clients listen, the most there can be; come back later, ask another server, \
                 or raise `server.event_streams`"
            );
            Problem::new(Kind::TooManyStreams, detail).retry_after(AGAIN)
        })
    }
}

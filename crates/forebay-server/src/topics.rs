//! The topics of this server, and how many clients may listen.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use forebay::{
    Forebay,
    topic::{Durable, Topic},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    api::AGAIN,
    config::{Config, ConfigError},
    error::{Kind, Problem},
    registry::UNDECLARED,
};

/// All topics: those that are declared as durable, and any other that a client names.
#[derive(Debug)]
pub(crate) struct Topics {
    forebay: Forebay,
    durable: HashMap<String, Durable>,
    /// All that are declared.
    declared: HashSet<String>,
    streams: Arc<Semaphore>,
    most_streams: u32,
    undeclared: Arc<Audience>,
}

/// The undeclared topics that clients listen to, and how many do.
#[derive(Debug, Default)]
struct Audience(Mutex<HashMap<String, usize>>);

/// The place of one client, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    _stream: OwnedSemaphorePermit,
    _heard: Option<Heard>,
}

/// One client's part in the audience of an undeclared topic.
#[derive(Debug)]
struct Heard {
    audience: Arc<Audience>,
    topic: String,
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
        let declared = config.topics.names().map(str::to_owned).collect();
        Ok(Self { forebay, durable, declared, streams, most_streams, undeclared: Arc::default() })
    }

    /// The topic called `name`. It takes no room unless somebody listens.
    pub(crate) fn find(&self, name: &str) -> Result<Asked, Problem> {
        if let Some(topic) = self.durable.get(name) {
            return Ok(Asked::Durable(topic.clone()));
        }
        let topic = self.forebay.topic(name).build();
        topic.map(Asked::Live).map_err(|error| Problem::new(Kind::InvalidTopic, error.to_string()))
    }

    /// Lets one more client listen to `topic`, until what this answers is dropped.
    pub(crate) fn seat(&self, topic: &Asked) -> Result<Seat, Problem> {
        let full = |detail| Problem::new(Kind::TooManyStreams, detail).retry_after(AGAIN);
        let stream = self.streams.clone().try_acquire_owned().map_err(|_| {
            let most = self.most_streams;
            full(format!(
                "{most} clients listen, the most there can be; come back later, ask another server, \
                 or raise `server.event_streams`"
            ))
        })?;
        let name = topic.name();
        if self.declared.contains(name) {
            return Ok(Seat { _stream: stream, _heard: None });
        }
        let heard = self.undeclared.clone().join(name).ok_or_else(|| {
            full(format!(
                "clients listen to {UNDECLARED} topics that are not declared, the most there can be; come back \
                 later, or declare this one as [topics.\"{name}\"] in the server's file"
            ))
        })?;
        Ok(Seat { _stream: stream, _heard: Some(heard) })
    }
}

impl Asked {
    fn name(&self) -> &str {
        match self {
            Self::Live(topic) => topic.name(),
            Self::Durable(topic) => topic.name(),
        }
    }
}

impl Audience {
    /// One more listens to `topic`, unless that would be one topic too many.
    fn join(self: Arc<Self>, topic: &str) -> Option<Heard> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() >= UNDECLARED && !heard.contains_key(topic) {
            return None;
        }
        *heard.entry(topic.to_owned()).or_default() += 1;
        drop(heard);
        Some(Heard { audience: self, topic: topic.to_owned() })
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let mut heard = self.audience.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listeners) = heard.get_mut(&self.topic) {
            *listeners -= 1;
            if *listeners == 0 {
                heard.remove(&self.topic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undeclared_topic_takes_a_place_for_as_long_as_somebody_listens() {
        let audience = Arc::<Audience>::default();
        let join = |topic: &str| audience.clone().join(topic);
        let mut heard: Vec<_> = (0..UNDECLARED).map(|number| join(&number.to_string()).unwrap()).collect();
        assert!(join("one more").is_none());
        let second = join("7").unwrap();
        heard.clear();
        assert!(join("one more").is_some());
        assert_eq!(audience.0.lock().unwrap().len(), 1);
        drop(second);
        assert!(audience.0.lock().unwrap().is_empty());
    }
}

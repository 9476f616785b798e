//! The store that processes share: a channel for who listens, and a stream where messages are kept.

mod scripts;

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;

use self::scripts::{PUBLISH, READ};
use super::{
    Id, Retention,
    backend::{Answer, Backend, From, Kept, Page},
};
use crate::{
    context::Remote,
    key::{Keys, Name},
    redis::{Reply, Request, Road, Unusable},
};

/// How many messages are read at once.
const MOST: &str = "256";

/// After how many bytes no more are read.
const BYTES: &str = "262144";

/// The topics in Redis.
#[derive(Debug)]
pub(super) struct RedisBackend {
    pub(super) keys: Keys,
    pub(super) remote: Remote,
}

impl RedisBackend {
    async fn publish(&self, topic: &Name, payload: &[u8]) -> Result<(), Unusable> {
        let redis = &self.remote.redis;
        let channel = self.keys.topic_channel(topic);
        let request = Request::Publish { channel: &channel, message: payload };
        redis.call(request, Road::Usual, redis.budget(Road::Usual)).await?;
        Ok(())
    }

    async fn append(&self, topic: &Name, payload: &[u8], retention: Retention) -> Result<Id, Unusable> {
        let keys = [self.keys.stream(topic)];
        let (most, kept) = (retention.max_len.to_string(), millis(retention.keep_for));
        let channel = self.keys.topic_channel(topic);
        let arguments = [payload, most.as_bytes(), kept.as_bytes(), channel.as_bytes()];
        let answer = self.remote.redis.run(Road::Usual, &PUBLISH, &keys, &arguments).await?;
        id(&answer).ok_or(Unusable::Unanswered)
    }

    async fn read(&self, topic: &Name, from: From) -> Result<Page, Unusable> {
        let keys = [self.keys.stream(topic)];
        let from = match from {
            From::After(id) => id.to_string(),
            From::End => String::new(),
        };
        let arguments = [from.as_bytes(), MOST.as_bytes(), BYTES.as_bytes()];
        page(self.remote.redis.run(Road::Large, &READ, &keys, &arguments).await?).ok_or(Unusable::NotDone)
    }
}

fn page(answer: Reply) -> Option<Page> {
    if answer == Reply::Nothing {
        return Some(Page { messages: Vec::new(), last: None, left: Duration::ZERO });
    }
    let mut parts = answer.into_list().into_iter();
    let (last, left) = (id(&parts.next()?)?, parts.next()?.number()?);
    let mut messages = Vec::with_capacity(parts.len() / 2);
    while let Some(place) = parts.next() {
        messages.push(Kept { id: id(&place)?, payload: parts.next()?.into_bytes() });
    }
    let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
    Some(Page { messages, last: Some(last), left })
}

fn id(answer: &Reply) -> Option<Id> {
    answer.text()?.parse().ok()
}

fn millis(span: Duration) -> String {
    span.as_millis().to_string()
}

impl Backend for RedisBackend {
    fn publish<'a>(&'a self, topic: &'a Name, payload: Bytes) -> Answer<'a, ()> {
        async move { self.publish(topic, &payload).await }.boxed()
    }

    fn append<'a>(&'a self, topic: &'a Name, payload: Bytes, retention: Retention) -> Answer<'a, Id> {
        async move { self.append(topic, &payload, retention).await }.boxed()
    }

    fn read<'a>(&'a self, topic: &'a Name, from: From) -> Answer<'a, Page> {
        self.read(topic, from).boxed()
    }
}

//! The store of one process.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, future::ready};

use super::{
    Id, Retention,
    backend::{Answer, Backend, From, Kept, Page},
    group::{DeadLetters, Members},
    home::Hubs,
};
use crate::{
    clock::{Clock, Moment, time_of_day},
    expiring::{Expiring, Next},
    key::{Keys, Name},
    wake::Wake,
};

/// How many messages are read at once.
const MOST: usize = 256;

/// The durable topics of a process.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(super) streams: Expiring<Stream>,
    /// What groups have put aside.
    pub(super) dead: Expiring<DeadLetters>,
    pub(super) clock: Clock,
    /// When the clock began, in milliseconds since 1970.
    began: u64,
}

/// The messages of one.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) messages: VecDeque<(Id, Bytes)>,
    pub(super) last: Option<Id>,
    pub(super) groups: HashMap<Name, Members>,
}

impl Streams {
    pub(super) fn new(clock: Clock) -> Self {
        let began = millis(time_of_day()).saturating_sub(millis(clock.now().since(Moment::default())));
        let (streams, dead) = (Expiring::new(clock.clone()), Expiring::new(clock.clone()));
        Self { streams, dead, clock, began }
    }

    pub(crate) fn sweep(&self) {
        self.streams.sweep();
        self.dead.sweep();
    }

    pub(super) fn now(&self) -> u64 {
        self.began + millis(self.clock.now().since(Moment::default()))
    }

    fn append(&self, name: &str, payload: Bytes, retention: Retention) -> Id {
        let now = self.now();
        self.streams.step(name, |stream| {
            let mut made = Stream::default();
            let (stream, is_new) = match stream {
                Some((stream, _)) => (stream, false),
                None => (&mut made, true),
            };
            let id = stream.append(payload, now, retention);
            let life = retention.keep_for;
            (if is_new { Next::Set(made, life) } else { Next::Prolong(life) }, id)
        })
    }

    fn read(&self, name: &str, from: From) -> Page {
        self.streams.step(name, |stream| {
            let page = stream.map(|(stream, left)| stream.read(from, left));
            let none = Page { messages: Vec::new(), last: None, left: Duration::ZERO };
            (Next::Keep, page.unwrap_or(none))
        })
    }
}

impl Stream {
    fn append(&mut self, payload: Bytes, now: u64, retention: Retention) -> Id {
        let id = self.last.unwrap_or(Id::BEGINNING).next(now);
        self.last = Some(id);
        self.messages.push_back((id, payload));
        let oldest = now.saturating_sub(millis(retention.keep_for));
        let most = usize::try_from(retention.max_len).unwrap_or(usize::MAX);
        while self.messages.len() > most || self.messages.front().is_some_and(|(id, _)| id.ms < oldest) {
            self.messages.pop_front();
        }
        id
    }

    fn read(&self, from: From, left: Duration) -> Page {
        let messages = match from {
            From::End => Vec::new(),
            From::After(id) => {
                let first = self.messages.partition_point(|(place, _)| *place <= id);
                let some = self.messages.range(first..).take(MOST);
                some.map(|(id, payload)| Kept { id: *id, payload: Some(payload.clone()) }).collect()
            }
        };
        Page { messages, last: Some(self.last.unwrap_or(Id::BEGINNING)), left }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The topics in this process.
#[derive(Debug)]
pub(super) struct MemoryBackend {
    pub(super) keys: Keys,
    pub(super) wake: Wake,
    pub(super) hubs: Arc<Hubs>,
    pub(super) streams: Arc<Streams>,
}

impl Backend for MemoryBackend {
    fn publish<'a>(&'a self, topic: &'a Name, payload: Bytes) -> Answer<'a, ()> {
        if let Some(hub) = self.hubs.find(topic) {
            hub.publish(payload);
        }
        ready(Ok(())).boxed()
    }

    fn append<'a>(&'a self, topic: &'a Name, payload: Bytes, retention: Retention) -> Answer<'a, Id> {
        let name = self.keys.stream(topic);
        let id = self.streams.append(&name, payload, retention);
        self.wake.wake(&name);
        ready(Ok(id)).boxed()
    }

    fn read<'a>(&'a self, topic: &'a Name, from: From) -> Answer<'a, Page> {
        ready(Ok(self.streams.read(&self.keys.stream(topic), from))).boxed()
    }
}

//! A subscriber of a durable topic: it reads what it lacks from the store, and what is new from the tail.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::broadcast::{self, error::RecvError};

use crate::{
    observe::TopicOutcome,
    topic::{
        Id,
        backend::{From, Page},
        cursor::{Cursor, Place, Step},
        durable,
        message::{Deaf, Heard, Message},
        tail::{PAUSE, Tail, Told},
    },
};

pub(super) struct Resumed {
    topic: Arc<durable::Inner>,
    told: broadcast::Receiver<Told>,
    /// It reads for as long as somebody has it.
    _tail: Arc<Tail>,
    cursor: Cursor,
    ready: VecDeque<Heard>,
    /// Whether there may be something to read that the tail does not tell.
    is_behind: bool,
    /// Whether it is to be told once it is known where "now" is.
    is_lost: bool,
}

impl Resumed {
    pub(super) fn after(topic: &Arc<durable::Inner>, id: Id) -> Self {
        Self::new(topic, Cursor::after(id, topic.retention.keep_for))
    }

    pub(super) async fn from_now(topic: &Arc<durable::Inner>) -> Self {
        let mut this = Self::new(topic, Cursor::at_end(topic.retention.keep_for));
        if let Ok(page) = topic.read(&this.cursor).await {
            this.take(page);
        } else {
            this.is_lost = true;
            this.ready.push_back(Heard::Deaf(Deaf::Begins));
        }
        this
    }

    fn new(topic: &Arc<durable::Inner>, cursor: Cursor) -> Self {
        let tail = topic.home.0.tails.find_or_make(&topic.name, Tail::new, |tail| tail.begin(topic));
        Self {
            topic: topic.clone(),
            told: tail.follow(),
            _tail: tail,
            cursor,
            ready: VecDeque::new(),
            is_behind: true,
            is_lost: false,
        }
    }

    pub(super) fn place(&self) -> Option<Id> {
        match self.cursor.from() {
            From::After(id) => Some(id),
            From::End => None,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.is_behind {
                self.read().await;
                continue;
            }
            match self.told.recv().await {
                Ok(told) => self.hear(told),
                Err(RecvError::Lagged(_)) => self.is_behind = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    async fn read(&mut self) {
        match self.topic.read(&self.cursor).await {
            Ok(page) => self.take(page),
            Err(_) => self.topic.home.0.context.clock.sleep(PAUSE).await,
        }
    }

    fn take(&mut self, page: Page) {
        let steps = self.cursor.take(page, self.topic.now());
        if std::mem::take(&mut self.is_lost) {
            self.ready.push_back(Heard::Deaf(Deaf::Over));
        }
        self.is_behind = !self.cursor.is_level();
        for step in steps {
            match step {
                Step::Message(id, payload) => {
                    self.ready.push_back(Heard::Message(Message::new(Some(id), payload)));
                }
                Step::Missed(missed) => self.ready.push_back(Heard::Deaf(Deaf::Missed(missed))),
                Step::Unreadable => self.topic.note(TopicOutcome::Unreadable, 1),
                Step::Ended => {}
            }
        }
    }

    fn hear(&mut self, told: Told) {
        match told {
            Told::Message(id, payload) => match self.cursor.place(id) {
                Place::Known => {}
                Place::Beyond => self.is_behind = true,
                Place::Next => {
                    self.cursor.advance(id, self.topic.now());
                    self.ready.push_back(Heard::Message(Message::new(Some(id), payload)));
                }
            },
            Told::Look => self.is_behind = true,
            Told::Ended => self.cursor.end(),
        }
    }
}

//! What a consumer and all that it was delivered share.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Letter,
    backend::{Fetched, Left, Look, Seat, Settled, Verdict},
    builder::Options,
    durable, keeper, unavailable,
};
use crate::{
    clock::Clock,
    error::Error,
    key::Name,
    observe::TopicOutcome::{self, Acknowledged, DeadLettered, Lost, Returned},
    redis::Unusable,
    sync::Mutex,
    tasks::Tasks,
};

#[derive(Debug)]
pub(super) struct Desk {
    pub(super) topic: Arc<durable::Inner>,
    pub(super) seat: Seat,
    /// How many deliveries are not settled.
    pub(super) open: watch::Sender<usize>,
    /// For how long those are waited for once the consumer has gone.
    pub(super) patience: Mutex<Duration>,
    /// Cancelled when the consumer goes.
    pub(super) parted: CancellationToken,
    /// Cancelled when it has left the group.
    pub(super) left: CancellationToken,
}

impl Desk {
    pub(super) fn new(
        topic: Arc<durable::Inner>,
        group: Name,
        consumer: Arc<str>,
        options: Options,
    ) -> Arc<Self> {
        let (name, retention) = (topic.name.clone(), topic.retention);
        let desk = Arc::new(Self {
            topic,
            seat: Seat { topic: name, group, consumer, options, retention },
            open: watch::Sender::new(0),
            patience: Mutex::new(options.visibility),
            parted: CancellationToken::new(),
            left: CancellationToken::new(),
        });
        desk.tasks().spawn(keeper::keep(desk.clone()));
        desk
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.topic.home.0.context.clock
    }

    pub(super) fn tasks(&self) -> &Tasks {
        &self.topic.home.0.context.tasks
    }

    pub(super) async fn fetch(&self, look: Look) -> Result<Fetched, Unusable> {
        let fetched = self.topic.home.0.groups.fetch(&self.seat, look).await?;
        self.note(Lost, fetched.lost);
        self.note(DeadLettered, fetched.dead);
        self.note(TopicOutcome::Delivered, fetched.letters.len() as u64);
        Ok(fetched)
    }

    pub(super) async fn settle(&self, letter: &Letter, verdict: Verdict<'_>) -> Result<Settled, Error> {
        let settled = self.topic.home.0.groups.settle(&self.seat, letter, verdict).await;
        let settled = settled.map_err(|_| unavailable())?;
        match (settled, verdict) {
            (Settled::Dead, _) => self.note(DeadLettered, 1),
            (Settled::Lost, _) => self.note(Lost, 1),
            (Settled::Yes, Verdict::Done) => self.note(Acknowledged, 1),
            (Settled::Yes, Verdict::Failed { .. } | Verdict::Unseen) => self.note(Returned, 1),
            _ => {}
        }
        Ok(settled)
    }

    pub(super) async fn leave(&self) -> Result<Left, Unusable> {
        let left = self.topic.home.0.groups.leave(&self.seat).await?;
        self.note(Lost, left.lost);
        Ok(left)
    }

    /// How long a message waits that has failed so often.
    pub(super) fn pause(&self, attempts: u32) -> Duration {
        let Options { backoff, visibility, .. } = self.seat.options;
        backoff.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1))).min(visibility)
    }

    fn note(&self, outcome: TopicOutcome, messages: u64) {
        if messages > 0 {
            self.topic.note(outcome, messages);
        }
    }
}

/// Counts one delivery as not settled until it is dropped.
#[derive(Debug)]
pub(super) struct Open(pub(super) Arc<Desk>);

impl Open {
    pub(super) fn at(desk: &Arc<Desk>) -> Self {
        desk.open.send_modify(|open| *open += 1);
        Self(desk.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

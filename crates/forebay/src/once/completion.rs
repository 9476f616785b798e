//! Offers what an execution has brought until the store has answered.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    backend::{Complete, Kept, Print},
    begun::Completed,
    heartbeat::Heartbeat,
    inner::Inner,
    record::Record,
    unavailable,
};
use crate::{
    clock::Moment,
    error::Error,
    observe::{CompleteOutcome, Event},
    redis::Unusable,
    token::Token,
};

/// The pause between attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Longer than a restart or a failover takes.
const AT_MOST: Duration = Duration::from_secs(600);

/// How many bytes of records may wait for the store.
const MOST: usize = 64 << 20;

/// One record that is to be kept.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) inner: Arc<Inner>,
    pub(super) name: Box<str>,
    pub(super) token: Token,
    pub(super) record: Record,
    /// What it takes to make the record anew where the store has lost it: the fingerprint, and the time of the request.
    pub(super) anew: Option<(Print, Moment)>,
    /// Has others wait meanwhile.
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) heartbeat: Option<Heartbeat>,
}

impl Completion {
    /// Begins to offer the record, in a task of its own, and gives the first answer.
    pub(super) fn begin(self) -> impl Future<Output = Result<Completed, Error>> + Send + use<> {
        let (told, answer) = oneshot::channel();
        let tasks = self.inner.home.context.tasks.clone();
        tasks.spawn(self.run(told));
        async { answer.await.unwrap_or_else(|_| Err(super::ended())) }
    }

    async fn run(mut self, told: oneshot::Sender<Result<Completed, Error>>) {
        self.record = std::mem::take(&mut self.record).within(self.inner.max_record);
        let first = self.attempt().await;
        let failed = first.is_err();
        if let Ok(completed) = first {
            self.settled(completed);
        }
        told.send(first.map_err(unavailable)).ok();
        if failed && !self.go_on().await {
            self.unconfirmed();
        }
    }

    /// Offers the record again and again. Returns whether there was an answer.
    async fn go_on(&self) -> bool {
        let waiting = Waiting::enter(self);
        if !waiting.fits {
            return false;
        }
        let clock = &self.inner.home.context.clock;
        let until = clock.now().after(AT_MOST);
        while clock.now() < until {
            clock.sleep(PAUSE).await;
            if let Ok(completed) = self.attempt().await {
                self.settled(completed);
                return true;
            }
        }
        false
    }

    async fn attempt(&self) -> Result<Completed, Unusable> {
        let (life, print) = self.life();
        let complete = Complete { record: &self.record, life, print };
        let backend = &self.inner.home.backend;
        Ok(match backend.complete(&self.name, self.token, complete).await? {
            Kept::Lost => Completed::Lost,
            Kept::Another => Completed::Conflict,
            Kept::Stored if self.record.is_omitted() => Completed::WithoutRecord,
            Kept::Stored => Completed::Stored,
        })
    }

    /// How long the record has to live where the store does not know, and whether it may be made anew.
    fn life(&self) -> (Duration, Option<Print>) {
        let Some((print, began)) = self.anew else { return (self.inner.keep, None) };
        let left = self.inner.keep.saturating_sub(self.inner.home.context.clock.now().since(began));
        (left, (!left.is_zero()).then_some(print))
    }

    fn settled(&self, completed: Completed) {
        self.record(match completed {
            Completed::Stored => CompleteOutcome::Stored,
            Completed::WithoutRecord => CompleteOutcome::WithoutRecord,
            Completed::Conflict => CompleteOutcome::Conflict,
            Completed::Lost => CompleteOutcome::Lost,
        });
        self.inner.wake(&self.name);
    }

    fn unconfirmed(&self) {
        tracing::warn!(
            "a record could not be stored: what it belongs to is done, and counts as indeterminate"
        );
        self.record(CompleteOutcome::Unconfirmed);
    }

    fn record(&self, outcome: CompleteOutcome) {
        self.inner.home.context.observe.record(Event::Completed { outcome });
    }
}

/// Counts the bytes of a record while it waits.
struct Waiting<'a> {
    completion: &'a Completion,
    fits: bool,
}

impl<'a> Waiting<'a> {
    fn enter(completion: &'a Completion) -> Self {
        let others = completion.inner.home.waiting.fetch_add(Self::weight(completion), Relaxed);
        Self { completion, fits: others <= MOST }
    }

    /// A record without bytes takes room, too.
    fn weight(completion: &Completion) -> usize {
        completion.record.bytes().len() + 1024
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.completion.inner.home.waiting.fetch_sub(Self::weight(self.completion), Relaxed);
    }
}

//! The right to run something, in the hands of the one who does.

use std::{future::Future, sync::Arc, time::Duration};

use super::{
    backend::{Print, Step},
    begun::Completed,
    completion::Completion,
    heartbeat::Heartbeat,
    inner::Inner,
    record::Record,
    unavailable,
};
use crate::{clock::Moment, error::Error, token::Token};

/// The right to run something once. Its lease is renewed as long as this is held.
///
/// Dropped, or lost with its process, it leaves it open whether anything was done: once the lease has ended others
/// are told so ([`OnIndeterminate`](super::OnIndeterminate)).
#[derive(Debug)]
#[must_use = "what is neither completed nor given up is indeterminate"]
pub struct Execution {
    inner: Arc<Inner>,
    name: Box<str>,
    token: Token,
    print: Print,
    began: Moment,
    heartbeat: Heartbeat,
}

impl Execution {
    pub(super) fn start(
        inner: &Arc<Inner>,
        name: &str,
        token: Token,
        print: Print,
        sent: Moment,
        life: Duration,
    ) -> Self {
        let heartbeat = Heartbeat::start(inner, name, token, sent, life);
        Self { inner: inner.clone(), name: name.into(), token, print, began: sent, heartbeat }
    }

    /// The token of the execution.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }

    /// Completes once others may be told that it is indeterminate, or may run it: its lease could not be renewed in
    /// time, or somebody else runs. It may be completed all the same, unless somebody else has run.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        self.heartbeat.lost().clone().cancelled_owned()
    }

    /// Whether [`Execution::lost`] has completed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.heartbeat.is_lost()
    }

    /// Keeps what was brought, whether or not the answer is waited for.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. The record is offered again for ten minutes, while others are told that it is
    /// still being run; only if that fails too is it indeterminate.
    pub fn complete(self, record: Record) -> impl Future<Output = Result<Completed, Error>> + Send + use<> {
        let Self { inner, name, token, print, began, heartbeat } = self;
        let completion =
            Completion { inner, name, token, record, anew: Some((print, began)), heartbeat: Some(heartbeat) };
        completion.begin()
    }

    /// Says that nothing was done, whether or not the answer is waited for: whoever asks next runs it. Returns
    /// whether it was still this execution's.
    ///
    /// # Errors
    ///
    /// The store cannot be asked. It is told for an hour; until then others are told that it is being run.
    pub fn give_up(self) -> impl Future<Output = Result<bool, Error>> + Send + use<> {
        let Self { inner, name, token, .. } = self;
        give_up(inner, name, token)
    }

    /// Ends the renewal and gives the token out, by which [`Idempotency::renew`](super::Idempotency::renew),
    /// [`Idempotency::complete`](super::Idempotency::complete) and
    /// [`Idempotency::give_up`](super::Idempotency::give_up) go on, in any process.
    #[must_use]
    pub fn into_token(self) -> Token {
        self.token
    }
}

/// Gives up in a task of its own.
pub(super) fn give_up(
    inner: Arc<Inner>,
    name: Box<str>,
    token: Token,
) -> impl Future<Output = Result<bool, Error>> + Send + use<> {
    let (told, answer) = tokio::sync::oneshot::channel();
    let tasks = inner.home.context.tasks.clone();
    tasks.spawn(async move {
        let given_up = inner.step(&name, token, Step::GiveUp).await;
        inner.wake(&name);
        told.send(given_up.map(|held| held.is_some()).map_err(unavailable)).ok();
    });
    async { answer.await.unwrap_or_else(|_| Err(super::ended())) }
}

//! A lease in the hands of its holder: whoever drops it gives it back.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{
    backend::{Backend, Settle, Unavailable},
    token::Token,
};
use crate::tasks::Tasks;

/// A granted lease.
pub(crate) struct Grant {
    backend: Arc<dyn Backend>,
    tasks: Tasks,
    key: Arc<str>,
    token: Token,
    /// The number of the space when it was granted; zero where nobody knows.
    number: u64,
    life: Duration,
    given_back: bool,
    /// Closed once the load has really ended, which takes a moment after it was aborted.
    load: Option<oneshot::Receiver<()>>,
}

impl Grant {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        tasks: Tasks,
        key: Arc<str>,
        token: Token,
        life: Duration,
    ) -> Self {
        let (token, number) = token.split();
        Self { backend, tasks, key, token, number, life, given_back: false, load: None }
    }

    /// Notes the number of the space.
    pub(crate) fn begin_at(&mut self, number: u64) {
        self.number = number;
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn token(&self) -> Token {
        self.token
    }

    pub(crate) fn life(&self) -> Duration {
        self.life
    }

    /// Holds the lease for `life` from now on; `false` when it is no longer ours.
    pub(crate) async fn renew(&mut self, life: Duration) -> Result<bool, Unavailable> {
        let renewed = self.backend.settle(&self.key, self.token, Settle::Renew(life)).await?;
        self.life = life;
        Ok(renewed)
    }

    /// Ends the lease with `step`; `false` when it was no longer ours.
    pub(crate) async fn settle(&mut self, step: Settle) -> Result<bool, Unavailable> {
        let settled = self.backend.settle(&self.key, self.token, step).await;
        self.given_back |= settled.is_ok();
        settled
    }

    /// Gives the lease back only once `load` has ended: a successor must not run beside it.
    pub(crate) fn outlive(&mut self, load: oneshot::Receiver<()>) {
        self.load = Some(load);
    }

    /// Leaves the lease to somebody else who has its token.
    pub(crate) fn keep(&mut self) {
        self.given_back = true;
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.given_back || !self.token.is_shared() {
            return;
        }
        let (backend, key, token) = (self.backend.clone(), self.key.clone(), self.token);
        let load = self.load.take();
        self.tasks.spawn(async move {
            if let Some(load) = load {
                load.await.ok();
            }
            if backend.settle(&key, token, Settle::Release).await.is_err() {
                tracing::debug!("a lease could not be given back and ends by itself");
            }
        });
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("token", &self.token).field("life", &self.life).finish_non_exhaustive()
    }
}

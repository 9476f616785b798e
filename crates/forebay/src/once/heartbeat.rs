//! Keeps the lease of an execution, and says when it could not.

use std::{sync::Arc, time::Duration};

use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{backend::Step, inner::Inner};
use crate::{
    clock::{Clock, Moment, trusted},
    redis::Unusable,
    sync::Mutex,
    token::Token,
};

/// Renews a lease until it is dropped, or until somebody else runs.
#[derive(Debug)]
pub(super) struct Heartbeat {
    #[expect(dead_code, reason = "held for its drop")]
    task: AbortOnDropHandle<()>,
    lost: CancellationToken,
    ends: Arc<Mutex<Moment>>,
    clock: Clock,
}

impl Heartbeat {
    /// Renews a lease of this life that was asked for at `sent`.
    pub(super) fn start(inner: &Arc<Inner>, name: &str, token: Token, sent: Moment, life: Duration) -> Self {
        let lost = CancellationToken::new();
        let ends = Arc::new(Mutex::new(sent.after(trusted(life))));
        let beats =
            Beats { inner: inner.clone(), name: name.into(), token, lost: lost.clone(), ends: ends.clone() };
        let task = inner.home.context.tasks.spawn_owned(beats.run());
        Self { task, lost, ends, clock: inner.home.context.clock.clone() }
    }

    /// Whether somebody else may run, as of now: a process that was stopped knows it before its tasks run.
    pub(super) fn is_lost(&self) -> bool {
        if self.clock.now() >= *self.ends.lock() {
            self.lost.cancel();
        }
        self.lost.is_cancelled()
    }

    /// Cancelled once somebody else may run.
    pub(super) fn lost(&self) -> &CancellationToken {
        &self.lost
    }
}

struct Beats {
    inner: Arc<Inner>,
    name: Box<str>,
    token: Token,
    lost: CancellationToken,
    ends: Arc<Mutex<Moment>>,
}

impl Beats {
    async fn run(self) {
        let clock = &self.inner.home.context.clock;
        let mut pause = self.inner.lease / 3;
        loop {
            let ends = *self.ends.lock();
            tokio::select! {
                biased;
                () = clock.sleep(ends.since(clock.now())), if !self.lost.is_cancelled() => self.lost.cancel(),
                (sent, renewed) = self.renew(pause) => match renewed {
                    Ok(Some(life)) => {
                        *self.ends.lock() = sent.after(trusted(life));
                        pause = self.inner.lease / 3;
                    }
                    Ok(None) => break self.lost.cancel(),
                    // Also after the end: as long as nobody else runs, the name is still held.
                    Err(_) => pause = self.inner.lease / 10,
                },
            }
        }
    }

    async fn renew(&self, pause: Duration) -> (Moment, Result<Option<Duration>, Unusable>) {
        let clock = &self.inner.home.context.clock;
        clock.sleep(pause).await;
        let sent = clock.now();
        let step = Step::Renew { lease: self.inner.lease, keep: self.inner.keep };
        (sent, self.inner.step(&self.name, self.token, step).await)
    }
}

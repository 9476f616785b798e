//! Keeps one lock until its holder lets go of it or it is lost: the only one who renews it, and who frees it when its
//! holder is gone.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{hold::Hold, home::Inner};
use crate::{
    clock::Moment,
    observe::{Event, LockOutcome},
};

/// Said by a holder that sees to the lock itself, or leaves it to somebody who has the token.
#[derive(Debug)]
pub(super) struct Leave;

/// How keeping ends.
#[derive(Debug)]
enum End {
    /// The holder has said so, or is gone.
    Left(Option<Leave>),
    Lost,
}

/// The task of one held lock.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) hold: Arc<Hold>,
    pub(super) inner: Arc<Inner>,
    pub(super) life: Duration,
    /// When it has something to do for the first time, if its holder does not let go before.
    pub(super) due: Moment,
    /// When a holder is held to be forgotten.
    pub(super) at_most: Moment,
    pub(super) leave: oneshot::Receiver<Leave>,
    /// Whether somebody else sees to the lock.
    pub(super) settled: bool,
}

impl Keeper {
    /// Ends without a word, as somebody else sees to the lock.
    pub(super) fn leave(mut self) {
        self.settled = true;
    }

    pub(super) async fn run(mut self) {
        match self.keep().await {
            End::Left(Some(Leave)) => {
                self.settled = true;
                self.hold.end();
            }
            End::Left(None) => self.release().await,
            End::Lost => self.lose().await,
        }
    }

    /// Renews the lock at each third of its life; sooner where the store did not answer.
    async fn keep(&mut self) -> End {
        let (third, soon) = (self.life / 3, self.life / 12);
        let inner = self.inner.clone();
        let mut pause = self.due.since(inner.clock.now());
        loop {
            let until = self.until();
            let pausing = inner.clock.sleep(pause.min(until.since(inner.clock.now())));
            tokio::select! {
                biased;
                left = &mut self.leave => return End::Left(left.ok()),
                () = pausing => {}
            }
            let asked = inner.clock.now();
            if self.hold.is_lost() || asked >= self.at_most {
                return End::Lost;
            }
            let (hold, life) = (self.hold.clone(), self.life);
            let renewing = inner.backend.renew(&hold.name, hold.token, life);
            let renewed = tokio::select! {
                biased;
                left = &mut self.leave => return End::Left(left.ok()),
                renewed = inner.clock.timeout(until.since(asked), renewing) => renewed,
            };
            pause = match renewed {
                Some(Ok(true)) if hold.prolong(asked, life) => third,
                Some(Ok(_)) => return End::Lost,
                Some(Err(_)) | None => soon,
            };
        }
    }

    /// Until when there is something to keep.
    fn until(&self) -> Moment {
        self.at_most.min(self.hold.until())
    }

    async fn release(&mut self) {
        self.settled = true;
        self.hold.end();
        self.inner.backend.release(&self.hold.name, self.hold.token).await.ok();
    }

    /// Tells the holder. The lock is not freed before it has let go, or its life has ended: it may be busy stopping.
    async fn lose(&mut self) {
        self.settled = true;
        self.hold.end();
        self.inner.observe.record(Event::Lock { outcome: LockOutcome::Lost });
        if let Some(Err(_)) = self.inner.clock.timeout(self.life, &mut self.leave).await {
            self.release().await;
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        self.hold.end();
        let (hold, backend) = (self.hold.clone(), self.inner.backend.clone());
        let leave = std::mem::replace(&mut self.leave, oneshot::channel().1);
        self.inner.releases.spawn(async move {
            // A holder that does not stop keeps the lock for the rest of its life.
            if leave.await.is_err() {
                backend.release(&hold.name, hold.token).await.ok();
            }
        });
    }
}

//! Keeps one lock until its holder lets go of it or it is lost: the only one who renews it, and who frees it when its
//! holder is gone.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use super::{backend::Backend, hold::Hold};
use crate::{
    clock::{Clock, Moment},
    observe::{Event, LockOutcome, Observe},
    tasks::Tasks,
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
    pub(super) backend: Arc<dyn Backend>,
    pub(super) clock: Clock,
    pub(super) observe: Arc<dyn Observe>,
    /// Where the lock is freed when this task is ended from outside.
    pub(super) releases: Tasks,
    pub(super) life: Duration,
    /// When a holder is held to be forgotten.
    pub(super) at_most: Moment,
    pub(super) leave: oneshot::Receiver<Leave>,
    /// Whether somebody else sees to the lock.
    pub(super) settled: bool,
}

impl Keeper {
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
        let mut pause = third;
        loop {
            let until = self.until();
            let pausing = self.clock.sleep(pause.min(until.since(self.clock.now())));
            tokio::select! {
                biased;
                left = &mut self.leave => return End::Left(left.ok()),
                () = pausing => {}
            }
            let asked = self.clock.now();
            if self.hold.is_lost() || asked >= self.at_most {
                return End::Lost;
            }
            let (hold, life) = (self.hold.clone(), self.life);
            let renewing = self.backend.renew(&hold.name, hold.token, life);
            let renewed = tokio::select! {
                biased;
                left = &mut self.leave => return End::Left(left.ok()),
                renewed = self.clock.timeout(until.since(asked), renewing) => renewed,
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
        self.backend.release(&self.hold.name, self.hold.token).await.ok();
    }

    /// Tells the holder. The lock is not freed before it has let go, or its life has ended: it may be busy stopping.
    async fn lose(&mut self) {
        self.settled = true;
        self.hold.end();
        self.observe.record(Event::Lock { outcome: LockOutcome::Lost });
        if let Some(Err(_)) = self.clock.timeout(self.life, &mut self.leave).await {
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
        let (hold, backend) = (self.hold.clone(), self.backend.clone());
        let leave = std::mem::replace(&mut self.leave, oneshot::channel().1);
        self.releases.spawn(async move {
            // A holder that does not stop keeps the lock for the rest of its life.
            if leave.await.is_err() {
                backend.release(&hold.name, hold.token).await.ok();
            }
        });
    }
}

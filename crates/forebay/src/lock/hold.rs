//! One lock as its holder sees it: whether it is still held, and how others are told that it is not.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::tenure::Tenure;
use crate::{
    clock::{Clock, Moment, trusted},
    token::Token,
};

/// A granted lock.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) name: Arc<str>,
    pub(super) token: Token,
    pub(super) fence: u64,
    tenure: Tenure,
    clock: Clock,
    lost: CancellationToken,
}

impl Hold {
    /// A lock that was asked for at `asked`, for `life`.
    pub(super) fn new(
        name: Arc<str>,
        token: Token,
        fence: u64,
        clock: Clock,
        asked: Moment,
        life: Duration,
    ) -> Self {
        let tenure = Tenure::new(asked.after(trusted(life)));
        Self { name, token, fence, tenure, clock, lost: CancellationToken::new() }
    }

    pub(super) fn is_lost(&self) -> bool {
        let over = self.tenure.is_over(self.clock.now());
        if over {
            self.lost.cancel();
        }
        over
    }

    /// Counts on the lock for `life` from `asked` on; `false` where it was lost before.
    pub(super) fn prolong(&self, asked: Moment, life: Duration) -> bool {
        self.tenure.prolong(self.clock.now(), asked.after(trusted(life)))
    }

    /// Tells everybody that the lock is not held any more.
    pub(super) fn end(&self) {
        self.tenure.end();
        self.lost.cancel();
    }

    pub(super) fn until(&self) -> Moment {
        self.tenure.until()
    }

    /// How long the lock is held for certain.
    pub(super) fn remaining(&self) -> Duration {
        if self.is_lost() { Duration::ZERO } else { self.tenure.until().since(self.clock.now()) }
    }

    pub(super) fn lost(self: &Arc<Self>) -> Lost {
        Lost { told: Box::pin(self.lost.clone().cancelled_owned()), hold: self.clone() }
    }
}

/// Completes when the lock is lost.
///
/// It looks at the clock each time it is polled: a process that was stopped learns of its loss before it does anything
/// else.
pub(super) struct Lost {
    hold: Arc<Hold>,
    told: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Future for Lost {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.hold.is_lost() {
            return Poll::Ready(());
        }
        pin!(&mut self.told).poll(context)
    }
}

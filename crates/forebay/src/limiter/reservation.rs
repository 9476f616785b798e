//! A cost that was taken before it is known.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{
    backend::{Ask, Hold, Settlement},
    decision::Decision,
    inner::{Inner, unavailable},
    policy::Tier,
    quota::Quota,
};
use crate::error::Error;

/// What becomes of a reservation.
#[derive(Debug)]
#[must_use = "work whose cost is not held is not to begin"]
pub enum Reserved {
    /// The cost is taken: do the work, then settle.
    Held(Reservation),
    /// Nothing was taken, as far as the store has answered.
    Refused(Decision),
}

/// A cost that is taken: unless it is settled it counts as it was reserved, and ages out with its windows.
#[derive(Debug)]
pub struct Reservation {
    pub(super) limiter: Arc<Inner>,
    pub(super) subject: Box<str>,
    pub(super) tier: Arc<Tier>,
    pub(super) quota: Quota,
    pub(super) hold: Hold,
    pub(super) reserved: u64,
}

impl Reservation {
    /// What was left once the cost was taken.
    #[must_use]
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Corrects the cost to what it was in the end, wherever the reservation still counts: what was reserved too
    /// much is given back, what was used beyond it is taken as far as the limits reach.
    ///
    /// # Errors
    ///
    /// The store did not answer. It is not asked again: what was reserved counts as spent.
    pub async fn settle(self, actual: u64) -> Result<(), Error> {
        self.begin(actual).await.unwrap_or_else(|_| Err(unavailable()))
    }

    /// Settles for nothing.
    pub(crate) fn give_back(self) -> Settling {
        self.begin(0)
    }

    /// Settles, whether or not anybody waits until that is done.
    fn begin(self, actual: u64) -> Settling {
        let (end, done) = oneshot::channel();
        self.limiter.tasks.clone().spawn(async move {
            end.send(self.correct(actual).await).ok();
        });
        done
    }

    async fn correct(&self, actual: u64) -> Result<(), Error> {
        let Self { limiter, subject, tier, hold, reserved, .. } = self;
        if actual == *reserved || tier.windows.is_empty() {
            return Ok(());
        }
        if *reserved == 0 {
            // Nothing is held that could be corrected: what was used is taken as far as it fits.
            let cost = actual.min(tier.most_at_once());
            limiter.ask(subject, Ask { tier, cost, take: true, until: None }).await.ok();
            return Ok(());
        }
        // More than any limit, and exact in a script.
        let actual = actual.min(1 << 52);
        limiter.settle(subject, Settlement { tier, hold, reserved: *reserved, actual }).await
    }
}

/// The end of a settlement.
pub(crate) type Settling = oneshot::Receiver<Result<(), Error>>;

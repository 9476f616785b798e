//! "May this caller go on?" – tiers of windows, decided in one atomic step.
//!
//! | to see | read |
//! |---|---|
//! | what may be taken | `window`, `tiers`, `policy` |
//! | how it is counted | `mode`, `state` (the arithmetic), `redis` (the same in scripts), `memory` |
//! | what is answered | `decision`, `quota`, `reservation` |
//! | what is counted at present | `listing` |
//! | why a flood of refusals does not reach the store | `denials` |
//! | what happens without Redis | `outage` |

mod backend;
mod builder;
mod decision;
mod denials;
mod home;
mod inner;
mod listing;
mod memory;
mod mode;
mod outage;
mod policy;
#[cfg(test)]
mod proofs;
mod quota;
mod redis;
mod refund;
mod reservation;
mod state;
mod tiers;
mod window;

use std::{fmt, sync::Arc};

pub use self::{
    builder::{Builder, OnOutage},
    decision::Decision,
    listing::{Count, Listing, WindowCount},
    mode::Mode,
    quota::{Quota, WindowQuota},
    reservation::{Reservation, Reserved},
    tiers::Tiers,
    window::Window,
};
pub(crate) use self::{
    home::{Home, Policies},
    memory::Counts,
};
use self::{inner::Inner, policy::Policy, refund::Refunds};
use crate::{error::Error, key::encode, subject::Subject};

/// Decides whether subjects may go on. Cheap to clone.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use forebay::{Forebay, Subject, limiter::{Decision, Tiers}};
///
/// let forebay = Forebay::builder("shop").memory().build().await?;
/// let limiter = forebay.limiter("api", Tiers::new().tier("free", ["2/minute", "100/hour"])?).build()?;
///
/// let user = Subject::user("42");
/// assert!(limiter.check(&user, "free").await.is_allowed());
/// assert!(limiter.check(&user, "free").await.is_allowed());
/// let Decision::Denied { quota, retry_after } = limiter.check(&user, "free").await else { unreachable!() };
/// assert_eq!((quota.limit(), quota.remaining()), (2, 0));
/// assert!(retry_after.as_secs() >= 59);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Limiter(Arc<Inner>);

impl Limiter {
    /// The name of the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        self.0.name.as_str()
    }

    /// How calls are counted.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.0.mode
    }

    /// Takes one from `subject`, whose tier is called `tier`. A tier that is unknown is the lowest.
    pub fn check(&self, subject: &Subject, tier: &str) -> impl Future<Output = Decision> + Send {
        self.check_cost(subject, tier, 1)
    }

    /// Takes `cost` from `subject`, all of it or nothing. A cost of 0 takes nothing, and is admitted unless more
    /// than the limit is in use, or the limit is 0.
    ///
    /// A check that Redis does not answer in time counts as spent there, and is decided by [`OnOutage`].
    pub async fn check_cost(&self, subject: &Subject, tier: &str, cost: u64) -> Decision {
        let subject = encode(subject.as_str());
        match self.0.remembered(&subject, tier, cost) {
            Some(decision) => decision,
            None => self.0.check(&subject, tier, cost, None).await.0,
        }
    }

    /// Takes one from each subject in the tier named beside it, or nothing from any: name the narrowest first, as
    /// in a user before the tenant.
    ///
    /// Subjects have keys of their own, so they are asked in turn, and what was taken is given back when a later
    /// one refuses, or when this future is dropped before the last one has answered. A subject that is named twice
    /// is decided in one step by all its windows.
    pub async fn check_all(&self, asked: &[(&Subject, &str)]) -> Decision {
        match self.reserve_all(asked, 1).await {
            Ok(held) => {
                let tightest = held.iter().map(Reservation::quota).min_by_key(|quota| quota.left()).cloned();
                Decision::Allowed(tightest.unwrap_or_else(|| Quota::whole(self.0.tier(&self.0.lowest))))
            }
            Err(decision) => decision,
        }
    }

    /// As [`Limiter::check_all`], with a cost that can be settled.
    pub(crate) async fn reserve_all(
        &self,
        asked: &[(&Subject, &str)],
        cost: u64,
    ) -> Result<Vec<Reservation>, Decision> {
        let (mut held, until) = (Refunds::default(), self.0.backend.budget());
        for (subject, tiers) in by_subject(asked) {
            match self.0.reserve(&encode(subject.as_str()), &tiers, cost, until).await {
                Reserved::Held(reservation) => held.add(reservation),
                Reserved::Refused(decision) => {
                    held.refund().await;
                    return Err(decision);
                }
            }
        }
        Ok(held.keep())
    }

    /// Tells what a check would say, and takes nothing. What remains is told as it is.
    pub async fn peek(&self, subject: &Subject, tier: &str) -> Decision {
        self.0.look(&encode(subject.as_str()), &self.0.tier(tier)).await
    }

    /// Gives `subject` its whole quota back, in this process at once and in others within a second.
    ///
    /// # Errors
    ///
    /// The store cannot be asked; whether it was done is not known.
    pub async fn reset(&self, subject: &Subject) -> Result<(), Error> {
        self.0.reset(encode(subject.as_str()).into()).await
    }

    /// Takes `cost` for work whose true cost is known afterwards, such as tokens of a language model: settle the
    /// reservation then.
    pub async fn reserve(&self, subject: &Subject, tier: &str, cost: u64) -> Reserved {
        self.0.reserve(&encode(subject.as_str()), &[tier], cost, None).await
    }

    /// Replaces all tiers. The next check is decided by the new ones; what was taken still counts in windows of
    /// the same length.
    ///
    /// # Errors
    ///
    /// Tiers without the lowest one, or a window that the mode cannot count. The old tiers stay.
    pub fn replace_tiers(&self, tiers: Tiers) -> Result<(), Error> {
        self.0.replace(Policy::new(&self.0.name, self.0.mode, &self.0.lowest, tiers)?);
        Ok(())
    }
}

/// Each subject once, with the names of all its tiers.
fn by_subject<'a>(asked: &[(&'a Subject, &'a str)]) -> Vec<(&'a Subject, Vec<&'a str>)> {
    let mut subjects: Vec<(&Subject, Vec<&str>)> = Vec::new();
    for (subject, tier) in asked {
        match subjects.iter_mut().find(|(other, _)| other == subject) {
            Some((_, tiers)) => tiers.push(tier),
            None => subjects.push((subject, vec![tier])),
        }
    }
    subjects
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

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

use std::{
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use self::{
    backend::{Ask, Backend, Hold, Settlement, Verdict},
    denials::Denials,
    policy::{Policy, Tier},
    refund::Refunds,
};
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
    home::{Home, Policies, Remote},
    memory::Counts,
};
use crate::{
    error::{Error, ErrorKind},
    key::{Name, encode},
    observe::{CheckOutcome, Event, Observe},
    subject::Subject,
    tasks::Tasks,
};

/// When to ask again while the store cannot be asked.
const RETRY: Duration = Duration::from_secs(1);

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

struct Inner {
    name: Name,
    mode: Mode,
    lowest: String,
    policy: RwLock<Arc<Policy>>,
    backend: Arc<dyn Backend>,
    denials: Option<Denials>,
    tasks: Tasks,
    observe: Arc<dyn Observe>,
    /// Whether it was said that somebody's tier is unknown.
    warned: AtomicBool,
}

impl Limiter {
    /// The name of the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        self.0.name.as_str()
    }

    /// Takes one from `subject`, whose tier is called `tier`. A tier that is unknown is the lowest.
    pub async fn check(&self, subject: &Subject, tier: &str) -> Decision {
        self.check_cost(subject, tier, 1).await
    }

    /// Takes `cost` from `subject`, all of it or nothing. A cost of 0 takes nothing, and is admitted unless more
    /// than the limit is in use.
    ///
    /// A check that Redis does not answer in time counts as spent there, and is decided by [`OnOutage`].
    pub async fn check_cost(&self, subject: &Subject, tier: &str, cost: u64) -> Decision {
        let tier = self.0.tier(tier);
        self.0.decide(&encode(subject.as_str()), &tier, cost, cost > 0).await.0
    }

    /// Takes one from each subject in the tier named beside it, or nothing from any: name the narrowest first, as
    /// in a user before the tenant.
    ///
    /// Subjects have keys of their own, so they are asked in turn, and what was taken is given back when a later
    /// one refuses. A subject that is named twice is decided in one step by all its windows.
    pub async fn check_all(&self, asked: &[(&Subject, &str)]) -> Decision {
        let mut held = Refunds::default();
        let mut tightest = None;
        for (subject, tier) in self.0.by_subject(asked) {
            match self.0.reserve(subject, tier, 1).await {
                Reserved::Held(reservation) => {
                    tightest = Some(reservation.quota().tighter(tightest));
                    held.add(reservation);
                }
                Reserved::Refused(decision) => {
                    held.refund().await;
                    return decision;
                }
            }
        }
        held.keep();
        Decision::Allowed(tightest.unwrap_or_else(|| Quota::whole(self.0.tier(&self.0.lowest))))
    }

    /// Tells what a check would say, and takes nothing. What remains is told as it is.
    pub async fn peek(&self, subject: &Subject, tier: &str) -> Decision {
        let tier = self.0.tier(tier);
        self.0.decide(&encode(subject.as_str()), &tier, 1, false).await.0
    }

    /// Gives `subject` its whole quota back, in this process at once and in others within a second.
    ///
    /// # Errors
    ///
    /// The store cannot be asked; whether it was done is not known.
    pub async fn reset(&self, subject: &Subject) -> Result<(), Error> {
        let subject = encode(subject.as_str());
        let reset = self.0.backend.reset(&subject).await;
        self.0.forget(&subject);
        reset.map_err(|_| unavailable())
    }

    /// Takes `cost` for work whose true cost is known afterwards, such as tokens of a language model: settle the
    /// reservation then.
    pub async fn reserve(&self, subject: &Subject, tier: &str, cost: u64) -> Reserved {
        self.0.reserve(subject, self.0.tier(tier), cost).await
    }

    /// Replaces all tiers. The next check is decided by the new ones; what was taken still counts in windows of
    /// the same length.
    ///
    /// # Errors
    ///
    /// Tiers without the lowest one, or a window that the mode cannot count. The old tiers stay.
    pub fn replace_tiers(&self, tiers: Tiers) -> Result<(), Error> {
        let policy = Policy::new(&self.0.name, self.0.mode, &self.0.lowest, tiers)?;
        *self.0.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
        Ok(())
    }
}

impl Inner {
    fn tier(&self, name: &str) -> Arc<Tier> {
        let policy = self.policy.read().unwrap_or_else(PoisonError::into_inner);
        match policy.tier(name) {
            Ok(tier) => tier.clone(),
            Err(lowest) => {
                if !self.warned.swap(true, Relaxed) {
                    let (policy, tier) = (self.name.as_str(), &lowest.name);
                    tracing::warn!(policy, unknown = name, %tier, "a caller of an unknown tier counts as the lowest");
                }
                lowest.clone()
            }
        }
    }

    /// Each subject once, in its encoded form, with the windows of all its tiers.
    fn by_subject<'a>(&self, asked: &[(&'a Subject, &str)]) -> Vec<(&'a Subject, Arc<Tier>)> {
        let mut subjects: Vec<(&Subject, Arc<Tier>)> = Vec::new();
        for (subject, tier) in asked {
            let tier = self.tier(tier);
            match subjects.iter_mut().find(|(other, _)| other == subject) {
                Some((_, both)) => *both = Arc::new(both.and(&tier)),
                None => subjects.push((subject, tier)),
            }
        }
        subjects
    }

    async fn reserve(self: &Arc<Self>, subject: &Subject, tier: Arc<Tier>, cost: u64) -> Reserved {
        let subject = encode(subject.as_str());
        let (decision, hold) = self.decide(&subject, &tier, cost, cost > 0).await;
        let Decision::Allowed(quota) = decision else { return Reserved::Refused(decision) };
        let tier = quota.applied().clone();
        let reserved = cost.min(tier.most_at_once());
        Reserved::Held(Reservation {
            limiter: self.clone(),
            subject: subject.into(),
            tier,
            quota,
            hold,
            reserved,
        })
    }

    async fn decide(&self, subject: &str, tier: &Arc<Tier>, cost: u64, take: bool) -> (Decision, Hold) {
        if let Some(decision) = tier.foregone(cost) {
            return (self.told(tier, decision), Hold::Nowhere);
        }
        let denials = self.denials.as_ref().filter(|_| take);
        if let Some(decision) = denials.and_then(|denials| denials.find(subject, tier, cost)) {
            self.record(tier, CheckOutcome::Remembered);
            return (decision, Hold::Nowhere);
        }
        let asked = denials.map(Denials::ask);
        let Ok(verdict) = self.backend.check(subject, Ask { tier, cost, take }).await else {
            return (self.told(tier, Decision::Unavailable { retry_after: RETRY }), Hold::Nowhere);
        };
        if verdict.unreadable {
            self.observe.record(Event::UnreadableLimit { policy: self.name.as_str() });
        }
        let from_store = verdict.applied.is_none();
        let (decision, hold) = decided(tier, cost, verdict);
        if let (Some(denials), Some(asked), true) = (denials, asked, from_store) {
            denials.remember(subject, tier, cost, asked, &decision);
        }
        (self.told(tier, decision), hold)
    }

    fn told(&self, tier: &Tier, decision: Decision) -> Decision {
        self.record(
            tier,
            match decision {
                Decision::Allowed(_) => CheckOutcome::Allowed,
                Decision::Denied { .. } => CheckOutcome::Denied,
                Decision::NeverFits { .. } => CheckOutcome::NeverFits,
                Decision::Unavailable { .. } => CheckOutcome::Unavailable,
            },
        );
        decision
    }

    fn record(&self, tier: &Tier, outcome: CheckOutcome) {
        self.observe.record(Event::Checked { policy: self.name.as_str(), tier: tier.name.as_str(), outcome });
    }

    async fn settle(&self, subject: &str, settlement: Settlement<'_>) -> Result<(), Error> {
        let frees = settlement.actual < settlement.reserved;
        let settled = self.backend.settle(subject, settlement).await;
        if frees {
            self.forget(subject);
        }
        settled.map_err(|_| unavailable())
    }

    fn forget(&self, subject: &str) {
        if let Some(denials) = &self.denials {
            denials.forget(subject);
        }
    }

    fn forget_all(&self) {
        if let Some(denials) = &self.denials {
            denials.clear();
        }
    }
}

/// What a verdict means for the caller.
fn decided(tier: &Arc<Tier>, cost: u64, verdict: Verdict) -> (Decision, Hold) {
    let Verdict { fits, wait, usage, hold, applied, .. } = verdict;
    let quota = Quota::new(applied.unwrap_or_else(|| tier.clone()), usage, if fits { 0 } else { cost });
    match fits {
        true => (Decision::Allowed(quota), hold),
        false => (Decision::Denied { quota, retry_after: wait.max(Duration::from_millis(1)) }, hold),
    }
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot be asked; whether it was done is not known")
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("policy", &self.name)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

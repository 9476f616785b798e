//! A limiter without its surface: which tier decides, what is remembered, what is recorded.

use std::{
    fmt,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    backend::{Ask, Backend, Hold, Settlement, Verdict},
    decision::Decision,
    denials::Denials,
    mode::Mode,
    policy::{Policy, Tier},
    quota::Quota,
    reservation::{Reservation, Reserved},
};
use crate::{
    clock::{Clock, Moment},
    error::{Error, ErrorKind},
    heavy::HeavyHitters,
    key::Name,
    observe::{CheckOutcome, Event, Observe, Part},
    redis::Unusable,
    tasks::Tasks,
};

/// Until when the store may be asked; a budget of its own without.
type Until = Option<Moment>;

/// While the store cannot be asked.
const UNAVAILABLE: Decision = Decision::Unavailable { retry_after: Duration::from_secs(1) };

pub(super) struct Inner {
    pub(super) name: Name,
    pub(super) mode: Mode,
    pub(super) lowest: String,
    pub(super) policy: RwLock<Arc<Policy>>,
    /// How often the tiers were replaced: counted after, and read before.
    pub(super) version: AtomicU64,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) denials: Option<Denials>,
    pub(super) tasks: Tasks,
    pub(super) observe: Arc<dyn Observe>,
    /// Keeps note of whom it refuses, where that is asked for.
    pub(super) heavy: Option<(Arc<HeavyHitters>, Clock)>,
    /// Whether it was said that somebody's tier is unknown.
    pub(super) warned: AtomicBool,
}

impl Inner {
    /// The tier of this name; the lowest for one that is unknown.
    pub(super) fn tier(&self, name: &str) -> Arc<Tier> {
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

    /// Puts other tiers in force.
    pub(super) fn replace(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
        self.version.fetch_add(1, SeqCst);
        self.announce();
    }

    /// Tells which tiers there are.
    pub(super) fn announce(&self) {
        let policy = self.policy.read().unwrap_or_else(PoisonError::into_inner).clone();
        for tier in policy.tiers() {
            let (policy, tier) = (self.name.as_str(), tier.name.as_str());
            self.observe.record(Event::Built(Part::Tier { policy, tier }));
        }
    }

    /// Decides about a cost in the tier called `tier`, and takes it. What is remembered was looked for before.
    pub(super) async fn check(&self, subject: &str, tier: &str, cost: u64, until: Until) -> (Decision, Hold) {
        let version = self.version.load(SeqCst);
        let applied = self.tier(tier);
        if let Some(decision) = applied.foregone(cost) {
            return (self.told(subject, &applied, decision), Hold::Nowhere);
        }
        let asked = self.denials.as_ref().map(|denials| denials.ask(subject));
        let Ok(answer) = self.ask(subject, Ask { tier: &applied, cost, take: cost > 0, until }).await else {
            return (self.told(subject, &applied, UNAVAILABLE), Hold::Nowhere);
        };
        if let (Some(denials), Some(asked), true) = (&self.denials, asked, answer.by_store) {
            denials.remember(subject, (tier, version), cost, asked, &answer.decision);
        }
        (self.told(subject, &applied, answer.decision), answer.hold)
    }

    /// Tells what a check of 1 would say.
    pub(super) async fn look(&self, subject: &str, tier: &Arc<Tier>) -> Decision {
        match tier.foregone(1) {
            Some(decision) => decision,
            None => {
                let ask = Ask { tier, cost: 1, take: false, until: None };
                self.ask(subject, ask).await.map_or(UNAVAILABLE, |answer| answer.decision)
            }
        }
    }

    /// Takes a cost out of the windows of all the tiers.
    pub(super) async fn reserve(
        self: &Arc<Self>,
        subject: &str,
        tiers: &[&str],
        cost: u64,
        until: Until,
    ) -> Reserved {
        let (decision, hold) = match tiers {
            [tier] => match self.remembered(subject, tier, cost) {
                Some(decision) => return Reserved::Refused(decision),
                None => self.check(subject, tier, cost, until).await,
            },
            tiers => self.check_several(subject, tiers, cost, until).await,
        };
        let Decision::Allowed(quota) = decision else { return Reserved::Refused(decision) };
        let tier = quota.applied().clone();
        let reserved = cost.min(tier.most_at_once());
        let (limiter, subject) = (self.clone(), subject.into());
        Reserved::Held(Reservation { limiter, subject, tier, quota, hold, reserved })
    }

    async fn check_several(
        &self,
        subject: &str,
        tiers: &[&str],
        cost: u64,
        until: Until,
    ) -> (Decision, Hold) {
        let tiers = tiers.iter().map(|tier| self.tier(tier));
        let Some(tier) = tiers.reduce(|all, tier| Arc::new(all.and(&tier))) else {
            return (Decision::Allowed(Quota::whole(self.tier(&self.lowest))), Hold::Nowhere);
        };
        if let Some(decision) = tier.foregone(cost) {
            return (self.told(subject, &tier, decision), Hold::Nowhere);
        }
        match self.ask(subject, Ask { tier: &tier, cost, take: cost > 0, until }).await {
            Ok(answer) => (self.told(subject, &tier, answer.decision), answer.hold),
            Err(_) => (self.told(subject, &tier, UNAVAILABLE), Hold::Nowhere),
        }
    }

    /// Asks the store.
    pub(super) async fn ask(&self, subject: &str, ask: Ask<'_>) -> Result<Answered, Unusable> {
        let verdict = self.backend.check(subject, ask).await?;
        if verdict.unreadable {
            self.observe.record(Event::UnreadableLimit { policy: self.name.as_str() });
        }
        Ok(Answered::of(ask, verdict))
    }

    /// A refusal that still holds, for the price of a look into memory.
    pub(super) fn remembered(&self, subject: &str, tier: &str, cost: u64) -> Option<Decision> {
        let version = self.version.load(SeqCst);
        let decision = self.denials.as_ref()?.find(subject, (tier, version), cost)?;
        let tier = decision.quota().map_or(tier, Quota::tier);
        self.record(tier, CheckOutcome::Remembered);
        self.note_refusal(subject);
        Some(decision)
    }

    fn told(&self, subject: &str, tier: &Tier, decision: Decision) -> Decision {
        let outcome = match decision {
            Decision::Allowed(_) => CheckOutcome::Allowed,
            Decision::Denied { .. } => CheckOutcome::Denied,
            Decision::NeverFits { .. } => CheckOutcome::NeverFits,
            Decision::Unavailable { .. } => CheckOutcome::Unavailable,
        };
        self.record(tier.name.as_str(), outcome);
        if outcome == CheckOutcome::Denied {
            self.note_refusal(subject);
        }
        decision
    }

    fn note_refusal(&self, subject: &str) {
        if let Some((heavy, clock)) = &self.heavy {
            heavy.refused(clock, &self.name, subject);
        }
    }

    fn record(&self, tier: &str, outcome: CheckOutcome) {
        self.observe.record(Event::Checked { policy: self.name.as_str(), tier, outcome });
    }

    /// Gives a subject its whole quota back, whether or not anybody waits until that is done.
    pub(super) async fn reset(self: &Arc<Self>, subject: Box<str>) -> Result<(), Error> {
        let (limiter, (end, done)) = (self.clone(), oneshot::channel());
        self.tasks.spawn(async move {
            let reset = limiter.backend.reset(&subject).await;
            limiter.forget(&subject);
            end.send(reset.map_err(|_| unavailable())).ok();
        });
        done.await.unwrap_or_else(|_| Err(unavailable()))
    }

    pub(super) async fn settle(&self, subject: &str, settlement: Settlement<'_>) -> Result<(), Error> {
        let frees = settlement.actual < settlement.reserved;
        let settled = self.backend.settle(subject, settlement).await;
        if frees {
            self.forget(subject);
        }
        settled.map_err(|_| unavailable())
    }

    /// Forgets the refusals of a subject.
    pub(super) fn forget(&self, subject: &str) {
        if let Some(denials) = &self.denials {
            denials.forget(subject);
        }
    }

    /// Forgets all refusals.
    pub(super) fn forget_all(&self) {
        if let Some(denials) = &self.denials {
            denials.clear();
        }
    }
}

/// What the store has answered.
#[derive(Debug)]
pub(super) struct Answered {
    decision: Decision,
    hold: Hold,
    /// Whether it was the store that decided, and not this process in its place.
    by_store: bool,
}

impl Answered {
    fn of(Ask { tier, cost, .. }: Ask<'_>, verdict: Verdict) -> Self {
        let Verdict { fits, wait, usage, hold, applied, .. } = verdict;
        let by_store = applied.is_none();
        let quota = Quota::new(applied.unwrap_or_else(|| tier.clone()), usage, if fits { 0 } else { cost });
        let decision = match fits {
            true => Decision::Allowed(quota),
            false => Decision::Denied { quota, retry_after: wait.max(Duration::from_millis(1)) },
        };
        Self { decision, hold, by_store }
    }
}

pub(super) fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot be asked; whether it was done is not known")
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("policy", &self.name)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

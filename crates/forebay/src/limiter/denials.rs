//! Refusals that are remembered in this process, so that who keeps asking costs the store one question a second.

#[cfg(test)]
mod tests;

use std::{fmt, hash::BuildHasher, time::Duration};

use quick_cache::{UnitWeighter, sync::Cache};

use super::{decision::Decision, quota::Quota};
use crate::{
    clock::{Clock, Moment, TICK},
    hash::Seed,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

/// How long a refusal is believed at most: another process may have freed something, and its word been lost.
const LONGEST: Duration = Duration::from_secs(1);

/// How long before that somebody asks again, so that not all do in one instant.
const ASKING: Duration = Duration::from_millis(200);

/// How many subjects are remembered.
const SUBJECTS: usize = 10_000;

/// So many parts of the subjects are told apart when something is freed.
const SHARDS: u64 = 256;

/// The latest refusals of one policy, by subject.
pub(crate) struct Denials {
    clock: Clock,
    seed: Seed,
    refused: Cache<Box<str>, Quota, UnitWeighter, Seed>,
    /// How often something was forgotten of some subjects each: what was asked before then may not hold any more.
    forgotten: Box<[AtomicU64]>,
}

/// To what a refusal applies, and until when.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The name of the tier that was asked for.
    tier: Box<str>,
    version: u64,
    cost: u64,
    told: Moment,
    /// When the cost fits.
    free: Moment,
    /// When somebody is to ask the store again, and until when the others need not.
    until: Moment,
    others_until: Moment,
    asks: AtomicBool,
}

/// When a question was asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    at: Moment,
    forgotten: u64,
}

impl Denials {
    pub(super) fn new(clock: Clock) -> Self {
        let seed = Seed::default();
        let refused = Cache::with(SUBJECTS, SUBJECTS as u64, UnitWeighter, seed, Default::default());
        Self { clock, seed, refused, forgotten: (0..SHARDS).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The refusal that still holds for this cost, or a larger one, in the tier of this name as of a version of the
    /// tiers.
    pub(super) fn find(&self, subject: &str, tier: (&str, u64), cost: u64) -> Option<Decision> {
        let quota = self.refused.get(subject)?;
        let (refusal, now) = (quota.refusal().get()?, self.clock.coarse());
        let holds = refusal.version == tier.1 && *refusal.tier == *tier.0 && refusal.covers(cost, &quota);
        if !holds || !refusal.is_believed(now) {
            return None;
        }
        let (age, retry_after) = (now.since(refusal.told), refusal.wait(now, cost, &quota));
        Some(Decision::Denied { quota: quota.aged(age), retry_after })
    }

    /// To be called before the store is asked.
    pub(super) fn ask(&self, subject: &str) -> Asked {
        Asked { at: self.clock.now(), forgotten: self.forgotten(subject).load(SeqCst) }
    }

    /// Remembers that the store has refused `cost`, unless something was freed meanwhile.
    pub(super) fn remember(
        &self,
        subject: &str,
        tier: (&str, u64),
        cost: u64,
        asked: Asked,
        decision: &Decision,
    ) {
        let Decision::Denied { quota, retry_after: wait } = decision else { return };
        // The coarse clock may lag: whoever comes when told to is not to be refused from memory.
        let Some(life) = wait.checked_sub(TICK) else { return };
        let told = self.clock.now();
        let refusal = Refusal {
            tier: tier.0.into(),
            version: tier.1,
            cost,
            told,
            free: told.after(*wait),
            until: asked.at.after(life.min(LONGEST - ASKING)),
            others_until: asked.at.after(life.min(LONGEST)),
            asks: AtomicBool::new(false),
        };
        if quota.refusal().set(refusal).is_ok() {
            self.refused.insert(subject.into(), quota.clone());
        }
        if self.forgotten(subject).load(SeqCst) != asked.forgotten {
            self.refused.remove(subject);
        }
    }

    /// Something of a subject was freed.
    pub(super) fn forget(&self, subject: &str) {
        self.forgotten(subject).fetch_add(1, SeqCst);
        self.refused.remove(subject);
    }

    /// It is not known what was freed.
    pub(super) fn clear(&self) {
        for forgotten in &self.forgotten {
            forgotten.fetch_add(1, SeqCst);
        }
        self.refused.clear();
    }

    fn forgotten(&self, subject: &str) -> &AtomicU64 {
        let shard = self.seed.hash_one(subject) % SHARDS;
        &self.forgotten[shard as usize]
    }
}

impl Refusal {
    /// A cost above every limit has an answer of its own.
    fn covers(&self, cost: u64, quota: &Quota) -> bool {
        cost == self.cost || (cost > self.cost && cost <= quota.applied().most_at_once())
    }

    /// Whether the store need not be asked: when it is to be, one asks and the others still believe.
    fn is_believed(&self, now: Moment) -> bool {
        now < self.until || (now < self.others_until && self.asks.swap(true, SeqCst))
    }

    /// When a larger cost would fit is not known: it is told to come when its windows are empty.
    fn wait(&self, now: Moment, cost: u64, quota: &Quota) -> Duration {
        let own = self.free.since(now).max(Duration::from_millis(1));
        if cost == self.cost {
            return own;
        }
        let full = quota.windows().filter(|window| window.remaining < cost);
        let empty = full.map(|window| self.told.after(window.reset_after).since(now)).max();
        empty.map_or(own, |empty| empty.max(own))
    }
}

impl fmt::Debug for Denials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Denials").field("subjects", &self.refused.len()).finish_non_exhaustive()
    }
}

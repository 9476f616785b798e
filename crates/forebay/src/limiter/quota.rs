//! What a subject has left.

use std::{
    cmp::Reverse,
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{denials::Refusal, policy::Tier, window::Window};

/// What a subject has left in the windows of its tier, as of the answer it came with. Cheap to clone.
///
/// Without the name of a window it speaks of the binding one: of a refusal the one that is full for longest, else
/// the one with the least left.
#[derive(Debug, Clone)]
pub struct Quota {
    told: Arc<Told>,
    /// How long ago the store said so.
    age: Duration,
}

/// What the store has said.
#[derive(Debug)]
struct Told {
    tier: Arc<Tier>,
    usage: Box<[Usage]>,
    binding: usize,
    /// For how long it is remembered, where it is a refusal: beside the rest, so that finding it copies one pointer.
    refusal: OnceLock<Refusal>,
}

/// What a subject has taken out of one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub(crate) used: u64,
    /// Until nothing of it counts any more.
    pub(crate) rest: Duration,
}

/// What a subject has left in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowQuota {
    /// How much may be taken within the window.
    pub limit: u64,
    /// The length of the window.
    pub window: Duration,
    /// How much may be taken at present, from 0 to the limit.
    pub remaining: u64,
    /// Until all of it may be taken again, if nothing is taken meanwhile.
    pub reset_after: Duration,
}

impl Quota {
    /// The quota of a tier with these windows in use, where a cost of `cost` was refused if it does not fit.
    pub(super) fn new(tier: Arc<Tier>, usage: Box<[Usage]>, cost: u64) -> Self {
        let left =
            tier.windows.iter().zip(&usage).map(|(window, usage)| window_quota(window, *usage)).enumerate();
        let full =
            left.clone().filter(|(_, left)| left.remaining < cost).max_by_key(|(_, left)| left.reset_after);
        let tight = || left.clone().min_by_key(|(_, left)| (left.remaining, Reverse(left.reset_after)));
        let binding = full.or_else(tight).map_or(0, |(n, _)| n);
        Self { told: Arc::new(Told { tier, usage, binding, refusal: OnceLock::new() }), age: Duration::ZERO }
    }

    /// The quota of a tier out of which nothing is taken.
    pub(super) fn whole(tier: Arc<Tier>) -> Self {
        let usage = vec![Usage::default(); tier.windows.len()];
        Self::new(tier, usage.into(), 0)
    }

    /// The tier by whose windows this was decided.
    pub(super) fn applied(&self) -> &Arc<Tier> {
        &self.told.tier
    }

    /// What orders quotas by how much they bind: the least left, then the longest time until there is more.
    pub(crate) fn left(&self) -> (u64, Reverse<Duration>) {
        (self.remaining(), Reverse(self.reset_after()))
    }

    /// For how long it is remembered.
    pub(super) fn refusal(&self) -> &OnceLock<Refusal> {
        &self.told.refusal
    }

    /// The same, `age` later.
    pub(super) fn aged(self, age: Duration) -> Self {
        Self { age: self.age + age, ..self }
    }

    /// The name of the policy.
    #[must_use]
    pub fn policy(&self) -> &str {
        self.told.tier.policy.as_str()
    }

    /// The name of the tier that was applied.
    #[must_use]
    pub fn tier(&self) -> &str {
        self.told.tier.name.as_str()
    }

    /// Whether the tier has no limit. The limit and what remains are then `u64::MAX`, and there is no window.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.told.tier.windows.is_empty()
    }

    /// How much may be taken within the binding window.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.binding().limit
    }

    /// The length of the binding window.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.binding().window
    }

    /// How much may be taken out of the binding window at present, from 0 to the limit.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.binding().remaining
    }

    /// Until all of the binding window may be taken again, if nothing is taken meanwhile.
    #[must_use]
    pub fn reset_after(&self) -> Duration {
        self.binding().reset_after
    }

    /// What is left in each window of the tier, in the tier's order.
    pub fn windows(&self) -> impl Iterator<Item = WindowQuota> {
        (0..self.told.usage.len()).map(|n| self.in_window(n))
    }

    fn binding(&self) -> WindowQuota {
        match self.is_unlimited() {
            true => WindowQuota {
                limit: u64::MAX,
                window: Duration::ZERO,
                remaining: u64::MAX,
                reset_after: Duration::ZERO,
            },
            false => self.in_window(self.told.binding),
        }
    }

    fn in_window(&self, n: usize) -> WindowQuota {
        let quota = window_quota(&self.told.tier.windows[n], self.told.usage[n]);
        WindowQuota { reset_after: quota.reset_after.saturating_sub(self.age), ..quota }
    }
}

fn window_quota(window: &Window, usage: Usage) -> WindowQuota {
    WindowQuota {
        limit: window.limit(),
        window: window.length(),
        remaining: window.most_at_once().saturating_sub(usage.used),
        reset_after: usage.rest,
    }
}

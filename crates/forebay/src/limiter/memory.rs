//! The store of one process: the same arithmetic as the scripts', on a clock that never steps back.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;

use super::{
    backend::{Answer, Ask, Backend, Hold, Settlement, Verdict},
    mode::Mode,
    policy::Tier,
    state::State,
};
use crate::{
    clock::{Clock, Moment},
    expiring::{Expiring, Next},
    key::{Keys, Name},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// What the subjects of all policies of a `Forebay` have taken, by their keys.
#[derive(Debug)]
pub(crate) struct Counts {
    subjects: Expiring<State>,
    clock: Clock,
    /// How many states there have been.
    states: AtomicU64,
}

impl Counts {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { subjects: Expiring::new(clock.clone()), clock, states: AtomicU64::new(0) }
    }

    pub(crate) fn sweep(&self) {
        self.subjects.sweep();
    }

    /// Some of the keys: at most `most`.
    pub(super) fn keys(&self, most: usize) -> Vec<Box<str>> {
        self.subjects.names(most)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.now().since(Moment::default()).as_millis()).unwrap_or(u64::MAX)
    }
}

/// One policy in this process.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBackend {
    pub(crate) policy: Name,
    pub(crate) mode: Mode,
    pub(crate) keys: Keys,
    pub(crate) counts: Arc<Counts>,
}

impl MemoryBackend {
    pub(super) fn decide(&self, subject: &str, ask: Ask<'_>) -> Verdict {
        let Ask { tier, cost, take, .. } = ask;
        self.counts.subjects.step(&self.keys.limit(&self.policy, subject, self.mode.variant()), |held| {
            let now = self.counts.now();
            let mut new = State::new(self.mode, self.counts.states.fetch_add(1, Relaxed), now);
            let is_new = held.is_none();
            let state = held.map_or(&mut new, |(state, _)| state);
            let outcome = state.check(tier, now, cost, take);
            let taken = take && outcome.fits;
            let hold = if taken { Hold::Here(state.receipt(tier, cost)) } else { Hold::Nowhere };
            let life = self.life(tier, state);
            let next = match (taken, is_new) {
                (false, _) => Next::Keep,
                (true, false) => Next::Prolong(life),
                (true, true) => Next::Set(new, life),
            };
            let usage = outcome.usage.into();
            (
                next,
                Verdict {
                    fits: outcome.fits,
                    wait: outcome.wait,
                    usage,
                    hold,
                    applied: None,
                    unreadable: false,
                },
            )
        })
    }

    fn correct(&self, subject: &str, settlement: Settlement<'_>) {
        let Settlement { tier, hold, reserved, actual } = settlement;
        let Hold::Here(receipt) = hold else { return };
        self.counts.subjects.step(&self.keys.limit(&self.policy, subject, self.mode.variant()), |held| {
            let Some((state, left)) = held else { return (Next::Clear, ()) };
            state.settle(tier, self.counts.now(), receipt, reserved, actual);
            (Next::Prolong(left.max(self.life(tier, state))), ())
        });
    }

    pub(super) fn forget(&self, subject: &str) {
        self.counts
            .subjects
            .step(&self.keys.limit(&self.policy, subject, self.mode.variant()), |_| (Next::Clear, ()));
    }

    fn life(&self, tier: &Tier, state: &State) -> Duration {
        Duration::from_millis(self.mode.life(tier.horizon.max(state.longest())))
    }
}

impl Backend for MemoryBackend {
    fn budget(&self) -> Option<Moment> {
        None
    }

    fn check<'a>(&'a self, subject: &'a str, ask: Ask<'a>) -> Answer<'a, Verdict> {
        async move { Ok(self.decide(subject, ask)) }.boxed()
    }

    fn settle<'a>(&'a self, subject: &'a str, settlement: Settlement<'a>) -> Answer<'a, ()> {
        async move {
            self.correct(subject, settlement);
            Ok(())
        }
        .boxed()
    }

    fn reset<'a>(&'a self, subject: &'a str) -> Answer<'a, ()> {
        async move {
            self.forget(subject);
            Ok(())
        }
        .boxed()
    }
}

//! What a policy does while the store cannot be asked.

use std::sync::Arc;

use futures::FutureExt;

use super::{
    backend::{Answer, Ask, Backend, Hold, Settlement, Verdict},
    memory::MemoryBackend,
    redis::RedisBackend,
};
use crate::clock::Moment;

/// Goes on limiting in this process, each window by its share.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) remote: RedisBackend,
    pub(super) here: MemoryBackend,
    pub(super) processes: u64,
}

impl Local {
    /// A cost that is above the share takes all of it.
    fn decide(&self, subject: &str, ask: Ask<'_>) -> Verdict {
        let share = Arc::new(ask.tier.share(self.processes));
        let cost = ask.cost.min(share.most_at_once());
        let verdict = self.here.decide(subject, Ask { tier: &share, cost, ..ask });
        Verdict { applied: Some(share), ..verdict }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Local {
    fn budget(&self) -> Option<Moment> {
        self.remote.budget()
    }

    fn check<'a>(&'a self, subject: &'a str, ask: Ask<'a>) -> Answer<'a, Verdict> {
        async move {
            let asked = self.remote.check(subject, ask).await;
            Ok(asked.unwrap_or_else(|_| self.decide(subject, ask)))
        }
        .boxed()
    }

    fn settle<'a>(&'a self, subject: &'a str, settlement: Settlement<'a>) -> Answer<'a, ()> {
        match settlement.hold {
            Hold::Here(_) => Backend::settle(&self.here, subject, settlement),
            Hold::Redis(_) | Hold::Nowhere => Backend::settle(&self.remote, subject, settlement),
        }
    }

    fn reset<'a>(&'a self, subject: &'a str) -> Answer<'a, ()> {
        self.here.forget(subject);
        Backend::reset(&self.remote, subject)
    }
}

/// Admits everything.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) remote: RedisBackend,
}

#[deny(clippy::missing_trait_methods)]
impl Backend for Open {
    fn budget(&self) -> Option<Moment> {
        self.remote.budget()
    }

    fn check<'a>(&'a self, subject: &'a str, ask: Ask<'a>) -> Answer<'a, Verdict> {
        async move {
            let asked = self.remote.check(subject, ask).await;
            Ok(asked.unwrap_or_else(|_| Verdict::unlimited(ask.tier)))
        }
        .boxed()
    }

    fn settle<'a>(&'a self, subject: &'a str, settlement: Settlement<'a>) -> Answer<'a, ()> {
        Backend::settle(&self.remote, subject, settlement)
    }

    fn reset<'a>(&'a self, subject: &'a str) -> Answer<'a, ()> {
        Backend::reset(&self.remote, subject)
    }
}

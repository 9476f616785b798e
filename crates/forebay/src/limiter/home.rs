//! Where a limiter is built: what all limiters of a `Forebay` share.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use super::{
    backend::Backend,
    builder::OnOutage,
    denials::Denials,
    inner::Inner,
    memory::{Counts, MemoryBackend},
    mode::Mode,
    outage::{Local, Open},
    redis::RedisBackend,
};
use crate::{
    bus::{Bus, Heard, Kind},
    context::{self, Context},
    error::{Error, ErrorKind},
    key::{Keys, Name},
    redis::Redis,
    sync::Mutex,
};

/// What all limiters of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) context: Context,
    counts: Arc<Counts>,
    policies: Arc<Policies>,
    remote: Option<Remote>,
}

/// How counts are shared with other processes.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    pub(super) store: context::Remote,
    pub(super) bus: Bus,
}

/// The policies that were built, with their limiters.
#[derive(Debug, Default)]
pub(crate) struct Policies(Mutex<HashMap<Name, Weak<Inner>>>);

impl Home {
    /// Counts in this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        let counts = Arc::new(Counts::new(context.clock.clone()));
        Self { context, counts, policies: Arc::default(), remote: None }
    }

    /// Counts in Redis.
    pub(crate) fn redis(context: Context, policies: Arc<Policies>, store: context::Remote, bus: Bus) -> Self {
        Self { policies, remote: Some(Remote { store, bus }), ..Self::memory(context) }
    }

    pub(crate) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Takes the name of `limiter`, which must be a new one.
    pub(super) fn claim(&self, limiter: &Arc<Inner>) -> Result<(), Error> {
        let mut policies = self.policies.0.lock();
        if policies.contains_key(&limiter.name) {
            let why = format!("limiter {} was built before in this Forebay; clone that one", limiter.name);
            return Err(Error::new(ErrorKind::Config, why));
        }
        policies.insert(limiter.name.clone(), Arc::downgrade(limiter));
        Ok(())
    }

    /// What is to remember refusals: nothing in this process needs to.
    pub(super) fn denials(&self) -> Option<Denials> {
        self.remote.is_some().then(|| Denials::new(self.context.clock.clone()))
    }

    pub(super) fn limiter(&self, policy: &str) -> Option<Arc<Inner>> {
        self.policies.limiter(policy)
    }

    /// Where counts are shared, if they are.
    pub(super) fn shared(&self) -> Option<&Redis> {
        self.remote.as_ref().map(|remote| &remote.store.redis)
    }

    pub(super) fn backend(
        &self,
        policy: &Name,
        mode: Mode,
        on_outage: OnOutage,
        processes: u64,
    ) -> Arc<dyn Backend> {
        let keys = Keys::new(self.context.app.clone());
        let here = || MemoryBackend {
            policy: policy.clone(),
            mode,
            keys: keys.clone(),
            counts: self.counts.clone(),
        };
        let Some(remote) = &self.remote else { return Arc::new(here()) };
        let remote = RedisBackend::new(policy.clone(), mode, keys.clone(), remote.clone());
        match on_outage {
            OnOutage::Local => Arc::new(Local { remote, here: here(), processes }),
            OnOutage::Open => Arc::new(Open { remote }),
            OnOutage::Closed => Arc::new(remote),
        }
    }
}

impl Policies {
    /// Forgets refusals that may no longer hold.
    pub(crate) fn hear(&self, heard: Heard<'_>) {
        match heard {
            Heard::Changed { space, id, kind: Kind::Freed, .. } => {
                if let Some(limiter) = self.limiter(space) {
                    limiter.forget(id);
                }
            }
            Heard::Missed | Heard::Deaf | Heard::Hearing => {
                self.forget();
            }
            Heard::Changed { .. } | Heard::Raised { .. } => {}
        }
    }

    /// Forgets all refusals.
    pub(crate) fn forget(&self) {
        self.limiters().iter().for_each(|limiter| limiter.forget_all());
    }

    fn limiter(&self, policy: &str) -> Option<Arc<Inner>> {
        self.0.lock().get(policy)?.upgrade()
    }

    fn limiters(&self) -> Vec<Arc<Inner>> {
        self.0.lock().values().filter_map(Weak::upgrade).collect()
    }
}

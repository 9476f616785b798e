//! Building a limiter: every option has a setter and a default.

use std::sync::{Arc, RwLock};

use super::{Limiter, home::Home, inner::Inner, mode::Mode, policy::Policy, tiers::Tiers};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// What a policy does while Redis cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnOutage {
    /// Each process goes on limiting by its share of the windows. Default.
    #[default]
    Local,
    /// Everything is admitted.
    Open,
    /// Nothing is admitted: the answer is [`Decision::Unavailable`](super::Decision::Unavailable).
    Closed,
}

/// Builds a [`Limiter`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    home: Home,
    policy: String,
    tiers: Tiers,
    mode: Mode,
    lowest: String,
    on_outage: OnOutage,
    expected_processes: u64,
}

impl Builder {
    pub(crate) fn new(home: Home, policy: &str, tiers: Tiers) -> Self {
        Self {
            home,
            policy: policy.into(),
            tiers,
            mode: Mode::default(),
            // An unknown tier is a mistake or an attempt: neither is to gain anything.
            lowest: "free".into(),
            on_outage: OnOutage::default(),
            expected_processes: 1,
        }
    }

    /// Sets how calls are counted. Default: [`Mode::Strict`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the tier of callers whose own is unknown. Default: `free`.
    pub fn lowest(mut self, tier: impl Into<String>) -> Self {
        self.lowest = tier.into();
        self
    }

    /// Sets what happens while Redis cannot be asked. Default: [`OnOutage::Local`].
    pub fn on_outage(mut self, on_outage: OnOutage) -> Self {
        self.on_outage = on_outage;
        self
    }

    /// Sets among how many processes the windows are divided while Redis cannot be asked, rounded up. At least
    /// 1. Default: 1.
    pub fn expected_processes(mut self, processes: u32) -> Self {
        self.expected_processes = processes.into();
        self
    }

    /// Builds the limiter.
    ///
    /// # Errors
    ///
    /// A policy that was built before in this `Forebay` or whose name cannot be part of a key, tiers without the
    /// lowest one, or a window that the mode cannot count.
    pub fn build(self) -> Result<Limiter, Error> {
        if self.expected_processes == 0 {
            let why = "expected_processes is 0; at least this process is there";
            return Err(Error::new(ErrorKind::Config, why));
        }
        let name = Name::new(self.policy)?;
        let policy = Policy::new(&name, self.mode, &self.lowest, self.tiers)?;
        let context = &self.home.context;
        let limiter = Arc::new(Inner {
            backend: self.home.backend(&name, self.mode, self.on_outage, self.expected_processes),
            name,
            mode: self.mode,
            lowest: self.lowest,
            policy: RwLock::new(Arc::new(policy)),
            version: Default::default(),
            denials: self.home.denials(),
            tasks: context.tasks.clone(),
            observe: context.observe.clone(),
            heavy: context.heavy.clone().map(|heavy| (heavy, context.clock.clone())),
            warned: Default::default(),
        });
        self.home.claim(&limiter)?;
        limiter.announce();
        Ok(Limiter(limiter))
    }
}

//! The policies of this server, with their limiters.

use std::{collections::BTreeMap, sync::Arc};

use forebay::{
    Error, Forebay,
    limiter::{Limiter, Tiers},
};

use crate::{
    config::{self, Config, ConfigError},
    error::{Kind, Problem, shown},
};

/// All policies by their names.
#[derive(Debug)]
pub(crate) struct Limits {
    policies: BTreeMap<String, Policy>,
    /// By which the server limits its own callers.
    own: Option<String>,
}

/// One policy.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) limiter: Limiter,
    /// The tier of callers of whom none is told.
    pub(crate) lowest: Arc<str>,
}

impl Limits {
    /// Builds the policies that are declared, and the one that need not be.
    pub(crate) fn declare(forebay: &Forebay, config: &Config) -> Result<Self, ConfigError> {
        let built = config.limits.iter().map(|(name, options)| {
            let policy = Policy::build(forebay, name, options).map_err(|message| config.refuse(message))?;
            Ok((name.to_owned(), policy))
        });
        let own = config.server.limit().map(str::to_owned);
        Ok(Self { policies: built.collect::<Result<_, _>>()?, own })
    }

    /// The policy called `name`, for a client. That of the server itself is not for those whom it limits.
    pub(crate) fn find(&self, name: &str) -> Result<&Policy, Problem> {
        self.policies.get(name).filter(|_| !self.is_own(name)).ok_or_else(|| self.unknown(name))
    }

    /// By which the server limits its own callers.
    pub(crate) fn own(&self) -> Option<&Policy> {
        self.policies.get(self.own.as_ref()?)
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.as_deref() == Some(name)
    }

    /// Replaces the tiers of the policy called `name`.
    pub(crate) fn replace_tiers(&self, name: &str, tiers: Tiers) -> Result<(), Error> {
        self.policies.get(name).map_or(Ok(()), |policy| policy.limiter.replace_tiers(tiers))
    }

    fn unknown(&self, name: &str) -> Problem {
        let open = self.policies.keys().filter(|name| !self.is_own(name)).map(|name| format!("`{name}`"));
        let open = open.collect::<Vec<_>>().join(", ");
        let detail = match self.is_own(name) {
            true => format!(
                "by the policy `{name}` this server limits its own callers; for others there are: {open}"
            ),
            false => format!(
                "there is no policy `{}`; there are: {open}; others can be declared as [limits.…] in the \
                 server's file",
                shown(name)
            ),
        };
        Problem::new(Kind::UnknownPolicy, detail)
    }
}

impl Policy {
    fn build(forebay: &Forebay, name: &str, options: &config::Policy) -> Result<Self, String> {
        let builder = options.builder(forebay, name, options.tiers(name)?);
        let limiter = builder.build().map_err(|error| format!("`limits.{name}`: {error}"))?;
        Ok(Self { limiter, lowest: options.lowest().into() })
    }
}

//! The policies of this server, with their limiters.

use std::{collections::BTreeMap, sync::Arc};

use forebay::{
    Error, Forebay,
    limiter::{Limiter, Tiers},
};

use crate::{
    config::{self, Config, ConfigError},
    error::{Kind, Problem},
};

/// All policies by their names.
#[derive(Debug)]
pub(crate) struct Limits(BTreeMap<String, Policy>);

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
        built.collect::<Result<_, _>>().map(Self)
    }

    /// The policy called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<&Policy, Problem> {
        self.0.get(name).ok_or_else(|| self.unknown(name))
    }

    /// Replaces the tiers of the policy called `name`.
    pub(crate) fn replace_tiers(&self, name: &str, tiers: Tiers) -> Result<(), Error> {
        self.0.get(name).map_or(Ok(()), |policy| policy.limiter.replace_tiers(tiers))
    }

    fn unknown(&self, name: &str) -> Problem {
        let known: Vec<_> = self.0.keys().map(|name| format!("`{name}`")).collect();
        let detail = format!(
            "there is no policy `{name}`; there are {}, and others can be declared as [limits.…] in the \
             server's file",
            known.join(", ")
        );
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

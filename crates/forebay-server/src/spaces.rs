//! The spaces of this server: the declared ones from the start, others from the first call that may store in them,
//! or, on a store that is shared, may find something there.

use std::{collections::HashMap, time::Duration};

use forebay::{Error, ErrorKind, Forebay, cache::Cache, key::Name};

use crate::{
    config::{self, Config, ConfigError},
    content::{AsSent, Content},
    error::{Kind, Problem},
    registry::{Registry, UNDECLARED},
};

/// What the library is told if no life is configured. No entry gets it: a write without a life is refused.
const NO_TIME_TO_LIVE: Duration = Duration::from_hours(1);

/// A space with the lives that its writers need not repeat.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub(crate) cache: Cache<Content>,
    pub(crate) time_to_live: Option<Duration>,
    pub(crate) absent_for: Option<Duration>,
    /// Whether a life that its writer does not give follows from how often the entry is read.
    pub(crate) is_adaptive: bool,
}

/// All spaces by their names.
#[derive(Debug)]
pub(crate) struct Spaces {
    forebay: Forebay,
    made: Registry<Space>,
    /// Whether other servers store here too.
    shared: bool,
    undeclared: config::Space,
}

impl Spaces {
    /// Makes the declared spaces.
    pub(crate) fn declare(forebay: Forebay, config: &Config) -> Result<Self, ConfigError> {
        let mut made = HashMap::new();
        for (name, options) in &config.cache.spaces {
            let space = make(&forebay, name, options)
                .map_err(|error| config.refuse(format!("`cache.spaces.\"{name}\"`: {error}")))?;
            made.insert(name.clone(), space);
        }
        Ok(Self {
            forebay,
            made: Registry::new(made),
            shared: config.store.is_shared(),
            undeclared: config::Space::undeclared(config.undeclared_wait()),
        })
    }

    /// The space called `name`, if it can hold anything: on a store that is shared any can.
    pub(crate) fn known(&self, name: &str) -> Result<Option<Space>, Problem> {
        if self.shared { self.made(name).map(Some) } else { self.found(name) }
    }

    fn found(&self, name: &str) -> Result<Option<Space>, Problem> {
        let space = self.made.find(name);
        if space.is_none() {
            Name::new(name).map_err(refused)?;
        }
        Ok(space)
    }

    /// The space called `name`, made now if it is new.
    pub(crate) fn made(&self, name: &str) -> Result<Space, Problem> {
        if let Some(space) = self.found(name)? {
            return Ok(space);
        }
        let new = || make(&self.forebay, name, &self.undeclared).map_err(refused);
        self.made.find_or_make(name, new, full)
    }
}

fn make(forebay: &Forebay, name: &str, options: &config::Space) -> Result<Space, Error> {
    let time_to_live = options.time_to_live();
    let builder = forebay.cache_with(name, time_to_live.unwrap_or(NO_TIME_TO_LIVE), AsSent);
    let cache = options.apply(builder).build()?;
    let (absent_for, is_adaptive) = (options.absent_for(), options.is_adaptive());
    Ok(Space { cache, time_to_live, absent_for, is_adaptive })
}

fn full() -> Problem {
    let detail = format!(
        "{UNDECLARED} spaces are in use that are not declared, the most there can be; \
         use one of them, or declare this one as [cache.spaces.\"…\"] in the server's file"
    );
    Problem::new(Kind::TooManySpaces, detail)
}

fn refused(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::Config => Problem::new(Kind::InvalidSpace, error.to_string()),
        _ => Problem::from(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    async fn spaces(shared: bool) -> Spaces {
        let config = Config::load(Flags::default()).unwrap();
        let forebay = Forebay::builder("spaces").memory().build().await.unwrap();
        Spaces { shared, ..Spaces::declare(forebay, &config).unwrap() }
    }

    #[tokio::test]
    async fn a_space_that_is_new_here_can_hold_what_other_servers_stored() {
        assert!(spaces(true).await.known("new").unwrap().is_some());
        assert!(spaces(false).await.known("new").unwrap().is_none());
    }
}

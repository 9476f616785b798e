//! The counters of this server: the declared ones from the start, others from the first call that names them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use forebay::{
    Error, ErrorKind, Forebay,
    unique::{Builder, Reader, Unique},
};

use crate::{
    config::{self, Config, ConfigError},
    error::{Kind, Problem},
    registry::{Registry, UNDECLARED},
};

/// How many visitors of one counter may wait here while Redis cannot be asked: there can be many counters.
const ROOM: usize = 20_000;

/// How many visitors one request may bring: there must be room for them.
pub(crate) const MOST_AT_ONCE: usize = 10_000;

/// The counter that figures are about unless they name another.
pub(crate) const SITE: &str = "site";

/// A counter of different visitors.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) unique: Unique,
    turn: Arc<Mutex<()>>,
}

/// All counters by their names.
#[derive(Debug)]
pub(crate) struct Counters {
    forebay: Forebay,
    made: Registry<Counter>,
    undeclared: config::Counter,
    /// The names of those that are there from the start, in order.
    declared: BTreeSet<String>,
}

impl Counters {
    /// Makes the declared counters, and the one that need not be.
    pub(crate) fn declare(forebay: Forebay, config: &Config) -> Result<Self, ConfigError> {
        let undeclared = config.unique.undeclared();
        let declared = config.unique.counters().map(|(name, options)| {
            let counter = make(&forebay, name, &options);
            let refuse = |error| config.refuse(format!("`unique.counters.\"{name}\"`: {error}"));
            Ok((name.to_owned(), counter.map_err(refuse)?))
        });
        let mut declared = declared.collect::<Result<HashMap<_, _>, _>>()?;
        if !declared.contains_key(SITE) {
            let site = make(&forebay, SITE, &undeclared);
            declared
                .insert(SITE.to_owned(), site.map_err(|error| config.refuse(format!("`unique`: {error}")))?);
        }
        let names = declared.keys().cloned().collect();
        Ok(Self { forebay, made: Registry::new(declared), undeclared, declared: names })
    }

    /// The counter called `name`, made now if it is new.
    pub(crate) fn made(&self, name: &str) -> Result<Counter, Problem> {
        let new = || make(&self.forebay, name, &self.undeclared).map_err(|error| refused(&error));
        self.made.find_or_make(name, new, full)
    }

    /// The names of those that are there from the start, in order.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().map(String::as_str)
    }

    /// What reads the counter called `name`. One that is new is not made: who only asks takes no place.
    pub(crate) fn read(&self, name: &str) -> Result<Reader, Problem> {
        match self.made.find(name) {
            Some(counter) => Ok(counter.unique.reader()),
            None => builder(&self.forebay, name, &self.undeclared).reader().map_err(|error| refused(&error)),
        }
    }
}

impl Counter {
    /// Records all `ids`. Where there is no room for them, those before are counted first.
    pub(crate) async fn record(&self, ids: &[String]) -> Result<(), Problem> {
        while !self.has_recorded(ids)? {
            self.unique.flush().await.map_err(|_| self.crowded())?;
        }
        Ok(())
    }

    fn crowded(&self) -> Problem {
        let waiting = self.unique.figures().pending;
        let detail = format!(
            "{waiting} ids wait here until Redis can be asked, and {ROOM} may; none of these is counted, send them again"
        );
        Problem::new(Kind::RedisUnavailable, detail)
    }

    /// Records in one turn, so that others cannot take the room that was found.
    fn has_recorded(&self, ids: &[String]) -> Result<bool, Problem> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.unique.figures();
        if before.pending + ids.len() > ROOM {
            return Ok(false);
        }
        ids.iter().for_each(|id| self.unique.record(id));
        match self.unique.figures().dropped == before.dropped {
            true => Ok(true),
            false => Err(Problem::new(
                Kind::RedisUnavailable,
                "the server ends, and some of these ids are not counted; send all of them again, each counts once",
            )),
        }
    }
}

fn make(forebay: &Forebay, name: &str, options: &config::Counter) -> Result<Counter, Error> {
    let unique = builder(forebay, name, options).buffer(ROOM).build()?;
    Ok(Counter { unique, turn: Arc::default() })
}

fn builder(forebay: &Forebay, name: &str, options: &config::Counter) -> Builder {
    forebay.unique(name).time_zone(&options.time_zone).keep_days(options.keep_days)
}

fn full() -> Problem {
    let detail = format!(
        "{UNDECLARED} counters are in use that are not declared, the most there can be; \
         use one of them, or declare this one as [unique.counters.\"…\"] in the server's file"
    );
    Problem::new(Kind::TooManyCounters, detail)
}

fn refused(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::Config => Problem::new(Kind::InvalidCounter, error.to_string()),
        _ => Problem::of(error),
    }
}

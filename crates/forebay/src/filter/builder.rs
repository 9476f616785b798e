//! Building a filter: every option has a setter and a default.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{Filter, Inner, home::Home, shape::Shape};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
    observe::{Event, Part},
};

const DAY: Duration = Duration::from_hours(24);

/// Builds a [`Filter`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    home: Home,
    name: String,
    capacity: u64,
    rate: f64,
    visible_within: Duration,
    keep: Duration,
}

impl Builder {
    pub(crate) fn new(home: Home, name: &str, capacity: u64, rate: f64) -> Self {
        Self {
            home,
            name: name.into(),
            capacity,
            rate,
            // Longer than the transactions of a service take, and nothing beside a rebuild.
            visible_within: Duration::from_secs(10),
            // A filter that nobody has used for so long is forgotten.
            keep: 30 * DAY,
        }
    }

    /// Sets how long after the call of [`Filter::add`] what was added may still be invisible to a rebuild, which waits
    /// for so long before it asks for the ids: the longest time that a transaction may take. Default: 10 s.
    pub fn visible_within(mut self, span: Duration) -> Self {
        self.visible_within = span;
        self
    }

    /// Sets how long the filter is kept in Redis once it is neither asked nor added to. At least a minute. Default: 30
    /// days.
    pub fn keep(mut self, span: Duration) -> Self {
        self.keep = span;
        self
    }

    /// Builds the filter. Nothing is asked or allocated yet: until the first [`Filter::rebuild`], here or in another
    /// process, it answers "maybe" to everything.
    ///
    /// # Errors
    ///
    /// A name that cannot be part of a key, a capacity of 0, a rate below 1e-9 or not below 1, or a filter that would be
    /// larger than 512 MiB.
    pub fn build(self) -> Result<Filter, Error> {
        let name = Name::new(self.name)?;
        let shape = Shape::fit(name.as_str(), self.capacity, self.rate)?;
        let keeps = Duration::from_secs(60)..=3650 * DAY;
        if !keeps.contains(&self.keep) {
            let why =
                format!("filter {name}: keep is not between a minute and ten years; 30 days is the default");
            return Err(Error::new(ErrorKind::Config, why));
        }
        self.home.context.observe.record(Event::Built(Part::Filter(name.as_str())));
        Ok(Filter(Arc::new(Inner {
            backend: self.home.backend(&name, self.keep),
            name,
            shape,
            visible_within: self.visible_within,
            context: self.home.context,
            incomplete: AtomicBool::new(false),
        })))
    }
}

//! Building a counter: every option has a setter and a default.

use super::{Unique, calendar::Calendar, home::Home, pending::BATCH, reader::Reader};
use crate::{
    error::{Error, ErrorKind},
    key::Name,
};

/// What a counter is built with, beside its calendar.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) buffer: usize,
}

/// Builds a [`Unique`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    home: Home,
    counter: String,
    time_zone: String,
    keep_days: u32,
    options: Options,
}

impl Builder {
    pub(crate) fn new(home: Home, counter: &str) -> Self {
        Self {
            home,
            counter: counter.into(),
            time_zone: "UTC".into(),
            // A whole week, and a day to ask for it.
            keep_days: 8,
            // About 8 MB at most: a good minute of 1,000 new visitors a second.
            options: Options { buffer: 100_000 },
        }
    }

    /// Sets the time zone whose days are counted, by its IANA name as in `Europe/Berlin`. All processes must name the
    /// same. Default: `UTC`.
    pub fn time_zone(mut self, name: impl Into<String>) -> Self {
        self.time_zone = name.into();
        self
    }

    /// Sets how many days before today are kept, and so how many can be counted together, of which today is one. 1 to
    /// 400; each takes 14 KB in the store. With less than 7 a week cannot be counted. Default: 8.
    pub fn keep_days(mut self, days: u32) -> Self {
        self.keep_days = days;
        self
    }

    /// Sets how many visitors may wait in this process while Redis cannot be asked; who comes beyond that is dropped,
    /// which [`Unique::figures`] tells. Each takes some 80 bytes. At least 1,000. Default: 100,000.
    pub fn buffer(mut self, visitors: usize) -> Self {
        self.options.buffer = visitors;
        self
    }

    /// Builds the counter.
    ///
    /// # Errors
    ///
    /// A counter that was built before in this `Forebay` or whose name cannot be part of a key, a time zone that is not
    /// known, or an option out of its bounds.
    pub fn build(self) -> Result<Unique, Error> {
        if self.options.buffer < BATCH {
            let why = format!("buffer is {}; at least {BATCH} are sent together", self.options.buffer);
            return Err(Error::new(ErrorKind::Config, why));
        }
        let calendar = Calendar::new(&self.time_zone, self.keep_days)?;
        self.home.build(Name::new(self.counter)?, calendar, &self.options)
    }

    /// Builds what counts the same and records nobody, also where the counter is built elsewhere, or never.
    ///
    /// Give it the time zone and the days of the counter that it reads.
    ///
    /// # Errors
    ///
    /// A name that cannot be part of a key, a time zone that is not known, or days out of their bounds.
    pub fn reader(self) -> Result<Reader, Error> {
        let calendar = Calendar::new(&self.time_zone, self.keep_days)?;
        Ok(self.home.reader(Name::new(self.counter)?, calendar))
    }
}

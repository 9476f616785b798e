//! Building what lets work run once: every option has a setter and a default.

use std::{sync::Arc, time::Duration};

use super::{Idempotency, claim::MOST, home::Home, inner::Inner};
use crate::{
    error::{Error, ErrorKind},
    key::Keys,
};

/// A lease that is renewed must outlast a pause of the process.
pub(super) const LEAST_LEASE: Duration = Duration::from_millis(100);

/// What a server's connection can take without holding up others for long.
const LARGEST: usize = 16 << 20;

/// What is answered where an execution has ended without a record: it was dropped, its process died, or its
/// completion never arrived. What it was to do may have been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnIndeterminate {
    /// Nothing is run: the answer is [`Begun::Indeterminate`](super::Begun::Indeterminate), until somebody who can
    /// find out does, or the record ends. Default.
    #[default]
    Refuse,
    /// It is run again: for what may be done twice without harm.
    Rerun,
}

/// Builds an [`Idempotency`].
#[derive(Debug)]
#[must_use = "a builder does nothing until build()"]
pub struct Builder {
    home: Home,
    lease: Duration,
    keep: Duration,
    max_record: usize,
    on_indeterminate: OnIndeterminate,
}

impl Builder {
    pub(super) fn new(home: Home) -> Self {
        Self {
            home,
            // Long enough for three renewals on a bad day, and not much longer than a client waits that tries again
            // after a crash.
            lease: Duration::from_secs(30),
            // As long as clients that retry from a queue commonly go on.
            keep: Duration::from_hours(24),
            max_record: 1 << 20,
            on_indeterminate: OnIndeterminate::default(),
        }
    }

    /// Sets for how long a name is held for an execution that is not heard of any more. While it is heard of it is
    /// renewed, at a third of this. At least 100 ms, at most [`Builder::keep`]. Default: 30 s.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets how long it is known of a name what became of it, from the first request on: no execution is told that
    /// it may go on for longer. At most 3,650 days. Default: 24 h.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }

    /// Sets how large a record may be in bytes. Of a larger one it is kept that there was one:
    /// [`Record::is_omitted`](super::Record::is_omitted). At most 16 MiB. Default: 1 MiB.
    pub fn max_record(mut self, bytes: usize) -> Self {
        self.max_record = bytes;
        self
    }

    /// Sets what is answered where nobody knows how an execution has ended. Default: [`OnIndeterminate::Refuse`].
    pub fn on_indeterminate(mut self, policy: OnIndeterminate) -> Self {
        self.on_indeterminate = policy;
        self
    }

    /// Builds it. Names are shared by all that one application builds.
    ///
    /// # Errors
    ///
    /// A lease or a life that is out of its bounds, or a record that is too large to be sent.
    pub fn build(self) -> Result<Idempotency, Error> {
        self.check()?;
        let Self { home, lease, keep, max_record, on_indeterminate } = self;
        let keys = Keys::new(home.context.app.clone());
        let again = on_indeterminate == OnIndeterminate::Rerun;
        Ok(Idempotency(Arc::new(Inner { home, keys, lease, keep, max_record, again })))
    }

    fn check(&self) -> Result<(), Error> {
        let Self { lease, keep, max_record, .. } = self;
        let rules = [
            (*lease < LEAST_LEASE, format!("the lease is {lease:?}; 100 ms is the least, 30 s the default")),
            (lease > keep, format!("the lease of {lease:?} is longer than the {keep:?} that are kept")),
            (*keep > MOST, format!("keep is {keep:?}; 3,650 days are the most")),
            (*max_record > LARGEST, format!("max_record is {max_record} bytes; 16 MiB are the most")),
        ];
        match rules.into_iter().find(|(broken, _)| *broken) {
            Some((_, why)) => Err(Error::new(ErrorKind::Config, why)),
            None => Ok(()),
        }
    }
}

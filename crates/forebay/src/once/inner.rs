//! What all clones of a handle share.

use std::{fmt, time::Duration};

use super::{
    backend::{Answer, Begin, Found, Print, Step, Under},
    begun::Begun,
    execution::Execution,
    home::Home,
    unavailable,
};
use crate::{
    error::{Error, ErrorKind},
    key::Keys,
    observe::{BeginOutcome, Event},
    token::Token,
};

pub(super) struct Inner {
    pub(super) home: Home,
    pub(super) keys: Keys,
    pub(super) lease: Duration,
    pub(super) keep: Duration,
    pub(super) max_record: usize,
    /// Whether what nobody knows the end of is run again.
    pub(super) again: bool,
}

impl Inner {
    /// Lets the caller run, or says how it stands. `name` is in its encoded form.
    pub(super) async fn begin(
        self: &std::sync::Arc<Self>,
        name: &str,
        fingerprint: &[u8],
        under: Under,
    ) -> Result<Begun, Error> {
        if self.home.context.tasks.is_stopping() {
            return Err(Error::new(ErrorKind::Unavailable, "shutdown has begun: nothing new is run"));
        }
        let print = Print::of(fingerprint);
        let begin = Begin { under, print, lease: self.lease, keep: self.keep, again: self.again };
        let sent = self.home.context.clock.now();
        let found = self.home.backend.begin(name, begin).await;
        self.record(outcome(found.as_ref().ok()));
        Ok(match found.map_err(unavailable)? {
            Found::Run(life) => Begun::Run(Execution::start(self, name, under.token, print, sent, life)),
            Found::Running(left) => Begun::Running { retry_after: left.max(Duration::from_millis(1)) },
            Found::Done(record) => Begun::Done(record),
            Found::Mismatch => Begun::Mismatch,
            Found::Indeterminate | Found::Unreadable => Begun::Indeterminate,
        })
    }

    pub(super) fn step<'a>(
        &'a self,
        name: &'a str,
        token: Token,
        step: Step,
    ) -> Answer<'a, Option<Duration>> {
        self.home.backend.step(name, token, step)
    }

    /// Tells those of this process who wait for `name`.
    pub(super) fn wake(&self, name: &str) {
        self.home.context.wake.wake(&self.keys.idempotency(name));
    }

    fn record(&self, outcome: BeginOutcome) {
        self.home.context.observe.record(Event::Begun { outcome });
    }
}

fn outcome(found: Option<&Found>) -> BeginOutcome {
    match found {
        Some(Found::Run(_)) => BeginOutcome::Run,
        Some(Found::Running(_)) => BeginOutcome::Running,
        Some(Found::Done(_)) => BeginOutcome::Done,
        Some(Found::Mismatch) => BeginOutcome::Mismatch,
        Some(Found::Indeterminate) => BeginOutcome::Indeterminate,
        Some(Found::Unreadable) => BeginOutcome::Unreadable,
        None => BeginOutcome::Unavailable,
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("lease", &self.lease)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

//! The right to load one value, in the hands of a caller that loads by itself.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    backend::{Note, Settle, Unavailable},
    entry::{Entry, Loaded, Source},
    grant::Grant,
    id::Id,
    inner::Inner,
    numbers::Stamp,
    options::{LONGEST, Life, SHORTEST},
    pace::Took,
    seal::{Draft, Opened, Sealed},
    token::Token,
    verdict::Answer,
};
use crate::{
    error::{Error, ErrorKind},
    observe::{Event, FillOutcome, LoadOutcome},
};

/// The right to load one value for everybody. It is given back when dropped, so that another may load.
///
/// Nothing renews it: a caller that loads for longer than [`Lease::life`] calls [`Lease::renew`].
pub struct Lease<V> {
    pub(super) inner: Arc<Inner<V>>,
    pub(super) id: Id,
    pub(super) grant: Grant,
    pub(super) stale: Option<Box<Entry<V>>>,
}

/// What became of a value that was filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Filled {
    /// It is stored.
    Stored,
    /// It is not stored, as every caller loads for itself at the moment.
    Unshared,
    /// The store did not answer; the value is in the memory of this process only.
    Deferred,
    /// It is not stored: the lease had run out, or an invalidate, put or expire has taken it away; or one of its tags,
    /// or the whole space, was invalidated since the lease was granted.
    Lost,
}

/// What became of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Returned {
    /// It is done as asked.
    Done,
    /// The caller no longer held it.
    Lost,
    /// The store did not answer.
    Unavailable,
}

impl From<Result<bool, Unavailable>> for Returned {
    fn from(answer: Result<bool, Unavailable>) -> Self {
        match answer {
            Ok(true) => Self::Done,
            Ok(false) => Self::Lost,
            Err(Unavailable) => Self::Unavailable,
        }
    }
}

impl<V: Send + Sync + 'static> Lease<V> {
    pub(super) fn resume(inner: Arc<Inner<V>>, id: &str, token: Token) -> Self {
        let id = Id::new(id);
        let mut grant = inner.grant(id.key.clone(), token, inner.options.lease);
        grant.keep();
        Self { inner, id, grant, stale: None }
    }

    /// The value that is to be replaced, to fall back on or to ask the origin whether it changed: a stale one or, with
    /// [`Refresh::Early`](super::Refresh::Early) and [`Refresh::Ahead`](super::Refresh::Ahead), one that soon will be.
    pub fn stale(&self) -> Option<&Entry<V>> {
        self.stale.as_deref()
    }

    /// The answer "nothing changed", to fill in: the stale value with its tags, for another fresh life as the space
    /// gives it. A lease that was taken up by its token reads it from the store. `None` when there is none, or it was
    /// invalidated.
    pub async fn not_modified(&self) -> Option<Loaded<V>> {
        match &self.stale {
            Some(entry) => Some(entry.again()),
            None => self.inner.kept(&self.id).await.map(|entry| entry.again()),
        }
    }

    /// Whether others wait for this load. If not, every caller loads for itself, because the last value was
    /// too large or not meant to be stored.
    pub fn shared(&self) -> bool {
        self.grant.token().is_shared()
    }

    /// How long the lease lasts, from when it was granted or last renewed; of one that was taken up by its token, how
    /// long a new one would.
    pub fn life(&self) -> Duration {
        self.grant.life()
    }

    /// Stores the loaded value if the lease is still held, and wakes everybody who waits for it.
    ///
    /// # Errors
    ///
    /// A value that is too large or cannot be encoded; the others then load for themselves for a moment.
    pub async fn fill(mut self, value: impl Into<Loaded<V>>) -> Result<Filled, Error> {
        let loaded = value.into();
        let took = self.loaded(LoadOutcome::Value);
        let Some(life) = self.inner.life_of_load(&self.id.key, &loaded) else {
            return Ok(self.do_not_share(FillOutcome::NotStored).await);
        };
        let id = self.inner.shared.context.dice.bits();
        let load_time = took.map_or(Duration::ZERO, |took| self.inner.pace.note(took.before, took.span));
        match self.inner.draft(&loaded, life, id, load_time) {
            Ok(draft) => {
                let entry = Entry {
                    value: loaded.value,
                    age: Duration::ZERO,
                    fresh_for: life.fresh,
                    source: Source::Loaded,
                    validator: loaded.validator,
                    id,
                    stamp: draft.stamp(self.grant.number()),
                    load_time,
                };
                Ok(self.store(Answer::Present(entry), draft).await)
            }
            Err(error) => {
                let outcome = match error.kind() {
                    ErrorKind::TooLarge => FillOutcome::TooLarge,
                    _ => FillOutcome::NotStored,
                };
                match self.do_not_share(outcome).await {
                    Filled::Lost => Ok(Filled::Lost),
                    _ => Err(error),
                }
            }
        }
    }

    /// Remembers for the space's `absent_for` that there is no value.
    ///
    /// # Errors
    ///
    /// The space remembers no absences; the lease is given back.
    pub async fn absent(self) -> Result<Filled, Error> {
        self.remember_absence(None).await
    }

    /// Remembers for `life` that there is no value.
    ///
    /// # Errors
    ///
    /// A life below a millisecond; the lease is given back.
    pub async fn absent_for(self, life: Duration) -> Result<Filled, Error> {
        self.remember_absence(Some(life)).await
    }

    async fn remember_absence(mut self, life: Option<Duration>) -> Result<Filled, Error> {
        self.loaded(LoadOutcome::Absent);
        match self.inner.options.absence(life) {
            Some(life) => Ok(self.store(Answer::Absent, self.inner.draft_absence(life)).await),
            None => {
                Err(self.inner.refuse("an absence needs a life of at least a millisecond; set absent_for"))
            }
        }
    }

    /// Reports that the load failed: for the space's `failure_for` nobody tries again.
    pub async fn fail(mut self) -> Returned {
        self.loaded(LoadOutcome::Failed);
        let note = Settle::Note(Note::Failed, self.inner.options.failure_for);
        let returned = self.end(note).await;
        if returned == Returned::Done {
            self.inner.origin_answered(false);
        }
        returned
    }

    /// Gives the lease back, so that somebody else loads.
    pub async fn release(mut self) -> Returned {
        self.end(Settle::Release).await
    }

    /// Holds the lease for at least `life` from now on; never for less than it has left.
    pub async fn renew(&mut self, life: Duration) -> Returned {
        if !self.shared() {
            return Returned::Done;
        }
        self.grant.renew(held_for(life)).await.into()
    }

    /// Turns the lease into a token, to carry it out of this program: whoever shows the token to
    /// [`Cache::resume`](super::Cache::resume) holds the lease. Only its holder gives it back.
    pub fn into_token(mut self) -> Token {
        self.grant.keep();
        self.grant.token().with_number(self.grant.number())
    }

    /// Tells how the load has ended.
    fn loaded(&self, outcome: LoadOutcome) -> Option<Took> {
        let took = self.inner.pace.ended(self.grant.token(), self.inner.now());
        let space = self.inner.name.as_str();
        self.inner.record(Event::Load { space, outcome, took: took.map(|took| took.span) });
        took
    }

    async fn store(&mut self, answer: Answer<V>, draft: Draft) -> Filled {
        if !self.shared() {
            return Filled::Unshared;
        }
        let inner = self.inner.clone();
        let fenced = inner.flights.fence(&self.id.key, &inner.numbers.epoch);
        let (id, life, number) = (draft.id(), draft.life(), self.grant.number());
        let stamp = draft.stamp(number);
        let sealed = inner.seal(draft, number);
        let bytes = sealed.bytes.len();
        let filled = self.settle_current(sealed, life, &stamp).await;
        if filled != Ok(false) {
            let (fresh_for, kept_for) = (life.fresh, life.total());
            let opened = Opened { answer, id, fresh_for, kept_for, bytes, stamp };
            inner.memorize(&self.id.key, &fenced.fence, &opened);
        }
        if filled == Ok(true) {
            inner.origin_answered(true);
        }
        let (outcome, filled) = match filled {
            Ok(true) if self.grant.token().is_local() => (FillOutcome::NotStored, Filled::Deferred),
            Ok(true) => (FillOutcome::Stored, Filled::Stored),
            Ok(false) => (FillOutcome::Refused, Filled::Lost),
            Err(Unavailable) => (FillOutcome::NotStored, Filled::Deferred),
        };
        inner.filled(outcome);
        filled
    }

    /// Stores what no tag has passed, and gives the lease back otherwise.
    async fn settle_current(
        &mut self,
        sealed: Sealed,
        life: Life,
        stamp: &Stamp,
    ) -> Result<bool, Unavailable> {
        let current = match self.grant.token().is_local() {
            true => !self.inner.numbers.have_passed(stamp),
            false => self.inner.may_fill(stamp, life).await?,
        };
        if current {
            return self.grant.settle(sealed.into_fill()).await;
        }
        self.grant.settle(Settle::Release).await.map(|_| false)
    }

    async fn do_not_share(&mut self, outcome: FillOutcome) -> Filled {
        self.inner.filled(outcome);
        let note = Settle::Note(Note::Unshared, self.inner.options.failure_for);
        let noted = self.end(note).await;
        if noted == Returned::Lost {
            return Filled::Lost;
        }
        self.inner.forget(&self.id.key);
        self.inner.origin_answered(true);
        Filled::Unshared
    }

    async fn end(&mut self, step: Settle) -> Returned {
        if !self.shared() {
            return Returned::Done;
        }
        self.grant.settle(step).await.into()
    }
}

/// The life that a lease can have.
pub(super) fn held_for(life: Duration) -> Duration {
    life.clamp(SHORTEST, LONGEST)
}

impl<V> fmt::Debug for Lease<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("grant", &self.grant)
            .field("stale", &self.stale)
            .finish_non_exhaustive()
    }
}

//! The cache for callers who load by themselves: a look-up answers the value or hands out the lease.

use std::{fmt, future::IntoFuture, sync::Arc, time::Duration};

use futures::future::BoxFuture;

use super::{
    caller::{Got, Want},
    entry::Entry,
    error::Failure,
    grant::Grant,
    id::Id,
    inner::Inner,
    leader::Goal,
    lease::{Lease, held_for},
    token::Token,
    verdict::Answer,
};

/// What a look-up answers.
#[derive(Debug)]
#[must_use]
pub enum Lookup<V> {
    /// The value; a stale one while somebody else loads it, or when loading failed.
    Hit(Entry<V>),
    /// The knowledge that there is no value.
    Absent,
    /// The caller loads: nobody else does until this lease is filled, given back or has ended. It may have a
    /// [value](Lease::stale) with it, which answers in the meantime.
    Lease(Lease<V>),
    /// Somebody else still loads.
    Busy {
        /// When it is worth while to ask again.
        retry_after: Duration,
    },
    /// Somebody's load failed a moment ago.
    Failed {
        /// When a new load may be tried.
        retry_after: Duration,
    },
}

/// A look-up on its way; await it.
#[must_use = "a look-up does nothing unless awaited"]
pub struct LookupRequest<'a, V> {
    pub(super) inner: &'a Arc<Inner<V>>,
    pub(super) id: String,
    pub(super) wait: Duration,
    pub(super) lease: Duration,
    pub(super) fresh: bool,
}

impl<V> LookupRequest<'_, V> {
    /// Sets how long the lease lasts unless renewed. Default: the space's.
    pub fn lease(mut self, life: Duration) -> Self {
        self.lease = life;
        self
    }
}

impl<'a, V: Send + Sync + 'static> IntoFuture for LookupRequest<'a, V> {
    type Output = Lookup<V>;
    type IntoFuture = BoxFuture<'a, Lookup<V>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.look_up())
    }
}

impl<V: Send + Sync + 'static> LookupRequest<'_, V> {
    async fn look_up(self) -> Lookup<V> {
        let options = &self.inner.options;
        let lease = held_for(self.lease);
        let want = Want { goal: Goal::Lease(lease), fresh: self.fresh, wait: Some(self.wait) };
        match self.inner.obtain(&self.id, want).await {
            Ok(Got::Answer(Answer::Present(entry))) => Lookup::Hit(entry),
            Ok(Got::Answer(Answer::Absent) | Got::Filtered) => Lookup::Absent,
            Ok(Got::Lease { grant, stale }) => Lookup::Lease(self.hand_out(grant, stale)),
            Ok(Got::Unshared) => {
                let token = Token::roll(&self.inner.shared.context.dice).unshared();
                let key = Id::new(&self.id).key;
                Lookup::Lease(self.hand_out(self.inner.grant(key, token, lease), None))
            }
            Ok(Got::Busy) | Err(Failure::Recursive | Failure::Overloaded) => {
                Lookup::Busy { retry_after: options.failure_for }
            }
            Err(Failure::Elsewhere(retry_after)) => Lookup::Failed { retry_after },
            Err(Failure::Error(_) | Failure::TimedOut | Failure::Panicked) => {
                Lookup::Failed { retry_after: options.failure_for }
            }
        }
    }

    fn hand_out(&self, grant: Grant, stale: Option<Entry<V>>) -> Lease<V> {
        let before = stale.as_ref().map_or(Duration::ZERO, |stale| stale.load_time);
        self.inner.pace.lent(grant.token(), before, self.inner.now());
        Lease { inner: self.inner.clone(), id: Id::new(&self.id), grant, stale: stale.map(Box::new) }
    }
}

impl<V> fmt::Debug for LookupRequest<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupRequest")
            .field("wait", &self.wait)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

//! Where claims are made and executions are built: what all of one `Forebay` share.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use super::{
    backend::{Backend, Bid, Known, Under},
    builder::Builder,
    claim::{self, Claim},
    memory::MemoryBackend,
    redis::RedisBackend,
    unavailable,
};
use crate::{
    context::{Context, Remote},
    error::Error,
    key::{Keys, encode},
    observe::{ClaimOutcome, Event},
    token::Token,
};

/// What all of a `Forebay` share; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(super) context: Context,
    pub(super) backend: Arc<dyn Backend>,
    /// How many bytes of records wait for Redis.
    pub(super) waiting: Arc<AtomicUsize>,
    /// What there is of the memory store.
    here: Option<Arc<MemoryBackend>>,
}

impl Home {
    /// In this process alone.
    pub(crate) fn memory(context: Context) -> Self {
        let here = Arc::new(MemoryBackend::new(context.clock.clone()));
        Self { context, backend: here.clone(), waiting: Arc::default(), here: Some(here) }
    }

    /// In Redis.
    pub(crate) fn redis(context: Context, remote: Remote) -> Self {
        let backend = Arc::new(RedisBackend::new(Keys::new(context.app.clone()), remote));
        Self { context, backend, waiting: Arc::default(), here: None }
    }

    /// What is kept in this process alone.
    pub(crate) fn here(&self) -> Option<&Arc<MemoryBackend>> {
        self.here.as_ref()
    }

    pub(crate) fn idempotency(&self) -> Builder {
        Builder::new(self.clone())
    }

    /// Claims a name under a token of the caller's, or one that is made for it.
    pub(crate) async fn claim(
        &self,
        name: &str,
        ttl: Duration,
        token: Option<Token>,
    ) -> Result<Claim, Error> {
        claim::check(ttl)?;
        let under = match token {
            Some(token) => Under { token, known: Known::ToCaller },
            None => Under { token: Token::roll(&self.context.dice), known: Known::ToNobody },
        };
        let bid = self.backend.claim(&encode(name), under, ttl).await;
        self.context.observe.record(Event::Claimed {
            outcome: match &bid {
                Ok(Bid::Claimed(_)) => ClaimOutcome::Claimed,
                Ok(Bid::Taken(_) | Bid::Foreign(_)) => ClaimOutcome::Taken,
                Err(_) => ClaimOutcome::Unavailable,
            },
        });
        match bid.map_err(unavailable)? {
            Bid::Claimed(left) => Ok(Claim::Claimed { token: under.token, left }),
            Bid::Taken(left) => Ok(Claim::Taken { retry_after: left.max(Duration::from_millis(1)) }),
            Bid::Foreign(key) => Err(Error::foreign(&key)),
        }
    }

    /// Frees a name.
    pub(crate) async fn unclaim(&self, name: &str, token: Token) -> Result<bool, Error> {
        self.backend.unclaim(&encode(name), token).await.map_err(unavailable)
    }
}

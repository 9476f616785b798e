//! Building a filter anew while it is in use.

use std::{sync::Arc, time::Duration};

use super::{
    Inner,
    answer::Rebuilt,
    backend::{Beginning, Step},
    mark::Mark,
};
use crate::{
    error::{Error, ErrorKind},
    redis::Unusable,
    token::Token,
};

/// For how long a rebuild keeps others out whose process has died.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// How often the store is asked for one step before the rebuild fails, and the pauses in between: as long in all as a
/// restart or a failover takes.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// A filter that is being filled; see [`Filter::rebuild`](super::Filter::rebuild).
#[derive(Debug)]
pub struct Rebuild {
    inner: Arc<Inner>,
    token: Token,
    /// Whether there is nothing left to take back.
    settled: bool,
}

impl Inner {
    pub(super) async fn rebuild<E: From<Error>>(
        self: &Arc<Self>,
        source: impl AsyncFnOnce(&Rebuild) -> Result<(), E>,
    ) -> Result<Rebuilt, E> {
        let token = Token::roll(&self.context.dice);
        let mut rebuild = Rebuild { inner: self.clone(), token, settled: false };
        match self.backend.begin(token, self.shape).await {
            Ok(Beginning::Begun) => {}
            Ok(Beginning::Running(retry_after)) => {
                rebuild.settled = true;
                return Ok(Rebuilt::Running { retry_after });
            }
            Ok(Beginning::Untold) => return Err(self.untold().into()),
            Err(_) => return Err(self.unavailable("cannot be rebuilt").into()),
        }
        let filled = async {
            // What was added before the beginning is visible from then on.
            self.context.clock.sleep(self.visible_within).await;
            source(&rebuild).await
        };
        tokio::select! {
            biased;
            filled = filled => filled?,
            lost = rebuild.hold() => return Err(lost.into()),
        }
        rebuild.finish().await?;
        Ok(Rebuilt::Complete)
    }

    fn untold(&self) -> Error {
        let why = "the server does not tell INFO replication; a filter needs the permission, as it could not see a loss";
        Error::new(ErrorKind::Config, format!("filter {}: {why}", self.name))
    }
}

impl Rebuild {
    /// Adds ids, as many as there are at hand.
    ///
    /// # Errors
    ///
    /// The store could not be asked for 5 s, or the rebuild has lost its place, as after a restart of the server. Whatever
    /// was there before stays in use; rebuild again.
    pub async fn add_all(&self, ids: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), Error> {
        let marks: Vec<Mark> = ids.into_iter().map(|id| Mark::of(id.as_ref())).collect();
        self.step(Step::Add(&marks)).await
    }

    async fn finish(&mut self) -> Result<(), Error> {
        self.step(Step::Switch).await?;
        self.settled = true;
        Ok(())
    }

    /// Holds the place until it is lost.
    async fn hold(&self) -> Error {
        loop {
            self.inner.context.clock.sleep(LEASE / 3).await;
            // One that is not answered says nothing: whatever is done next tells.
            if self.inner.backend.step(self.token, Step::Hold).await == Ok(false) {
                return self.lost();
            }
        }
    }

    /// Does `step`, if need be several times: each leaves the same however often it is done.
    async fn step(&self, step: Step<'_>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            match self.inner.backend.step(self.token, step).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(self.lost()),
                Err(Unusable::NotDone | Unusable::Unanswered) => self.inner.context.clock.sleep(PAUSE).await,
            }
        }
        Err(self.inner.unavailable("is not rebuilt"))
    }

    fn lost(&self) -> Error {
        let why = "the rebuild has lost its place, or something may have been lost; rebuild again";
        Error::new(ErrorKind::Unavailable, format!("filter {}: {why}", self.inner.name))
    }
}

impl Drop for Rebuild {
    fn drop(&mut self) {
        if !self.settled {
            self.inner.backend.abandon(self.token);
        }
    }
}

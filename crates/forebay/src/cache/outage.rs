//! Goes on while the store cannot be asked: changes are deferred, and look-ups get leases of this process alone.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{
    backend::{Backend, Budget, Change, Leased, Request, Settle, Stored, Unavailable},
    deferred::{Deferred, Distant},
    memory::MemoryBackend,
    token::Token,
};

/// One space in a store elsewhere, with what stands in for that during an outage.
#[derive(Debug)]
pub(crate) struct Outage {
    pub(crate) remote: Arc<dyn Distant>,
    pub(crate) deferred: Arc<Deferred>,
    /// Holds what is leased and filled meanwhile; empty again once invalidations are heard.
    pub(crate) locally: MemoryBackend,
    /// Keeps the tasks of the store going for as long as the cache exists.
    pub(crate) _anchor: Arc<dyn fmt::Debug + Send + Sync>,
}

impl Outage {
    /// Overtakes the leases of this process alone.
    pub(super) fn overtake(&self, id: &str) {
        self.locally.make(id, &Change::Invalidate);
    }

    fn ask<T>(&self, id: &str, question: impl FnOnce() -> T) -> Result<T, Unavailable> {
        if self.deferred.holds(self.remote.space(), id) { Err(Unavailable) } else { Ok(question()) }
    }
}

impl Backend for Outage {
    fn budget(&self) -> Budget {
        self.remote.budget()
    }

    fn read<'a>(
        &'a self,
        id: &'a str,
        budget: &'a mut Budget,
    ) -> BoxFuture<'a, Result<Option<Stored>, Unavailable>> {
        Box::pin(async move { self.ask(id, || self.remote.read(id, budget))?.await })
    }

    fn lease<'a>(
        &'a self,
        id: &'a str,
        request: Request,
        budget: &'a mut Budget,
    ) -> BoxFuture<'a, Result<Leased, Unavailable>> {
        Box::pin(async move {
            let asked = match self.ask(id, || self.remote.lease(id, request.clone(), budget)) {
                Ok(asked) => asked.await,
                Err(Unavailable) => Err(Unavailable),
            };
            if asked.is_ok() || !request.local_will_do {
                return asked;
            }
            let request = Request { token: request.token.local(), ..request };
            Ok(match self.locally.lease(id, request, &mut self.locally.budget()).await? {
                Leased::Granted { .. } => Leased::GrantedLocally,
                other => other,
            })
        })
    }

    fn settle<'a>(
        &'a self,
        id: &'a str,
        token: Token,
        step: Settle,
    ) -> BoxFuture<'a, Result<bool, Unavailable>> {
        Box::pin(async move {
            if token.is_local() {
                return self.locally.settle(id, token, step).await;
            }
            self.ask(id, || self.remote.settle(id, token, step))?.await
        })
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> BoxFuture<'a, Result<(), Unavailable>> {
        Box::pin(async move {
            self.overtake(id);
            let mark = self.deferred.mark();
            let changed = self.remote.change(id, change.clone()).await;
            match changed {
                Ok(()) => self.deferred.confirm(&self.remote, id, &change, mark),
                Err(Unavailable) => self.deferred.keep(&self.remote, id, &change),
            }
            changed
        })
    }

    fn wake_name(&self, id: &str) -> String {
        self.remote.wake_name(id)
    }
}

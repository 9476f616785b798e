//! Goes on while the store cannot be asked: changes are deferred, and look-ups get leases of this process alone.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::{
    backend::{
        Answer, Backend, Budget, Change, Finder, Leased, Question, Request, Seen, Settle, Stored, Unavailable,
    },
    deferred::{Deferred, Distant},
    memory::MemoryBackend,
    numbers::{Group, Known},
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
    #[expect(dead_code, reason = "held for its drop")]
    pub(crate) keeps: Arc<dyn fmt::Debug + Send + Sync>,
}

impl Outage {
    /// Overtakes the leases of this process alone.
    pub(super) fn overtake(&self, id: &str) {
        self.locally.make(id, &Change::Invalidate);
    }

    /// What the store answers, unless a change of `id` waits for it.
    async fn ask<T>(&self, id: &str, question: Answer<'_, T>) -> Result<T, Unavailable> {
        if self.deferred.holds(self.remote.space(), id) { Err(Unavailable) } else { question.await }
    }

    /// An entry that the store answers, unless the server has become another one meanwhile.
    async fn known<T>(
        &self,
        question: impl Future<Output = Result<T, Unavailable>>,
        is_entry: impl Fn(&T) -> bool,
    ) -> Result<T, Unavailable> {
        let server = self.deferred.server();
        let answer = question.await?;
        if is_entry(&answer) && self.deferred.server() != server { Err(Unavailable) } else { Ok(answer) }
    }
}

impl Backend for Outage {
    fn budget(&self) -> Budget {
        self.remote.budget()
    }

    fn read<'a>(&'a self, id: &'a str, budget: &'a mut Budget) -> Answer<'a, Option<Stored>> {
        let question = self.ask(id, self.remote.read(id, budget));
        Box::pin(self.known(question, Option::is_some))
    }

    fn lease<'a>(&'a self, id: &'a str, request: Request, budget: &'a mut Budget) -> Answer<'a, Leased> {
        Box::pin(async move {
            let question = self.ask(id, self.remote.lease(id, request.clone(), budget));
            let asked = self.known(question, |leased| matches!(leased, Leased::Entry(_))).await;
            if asked.is_ok() || !request.local_will_do {
                return asked;
            }
            // Its end is told by this process, which hears itself also while it hears nobody else.
            let request = Request { token: request.token.local(), listening: true, ..request };
            Ok(match self.locally.lease(id, request, &mut self.locally.budget()).await? {
                Leased::Granted { .. } => Leased::GrantedLocally,
                Leased::Entry(stored) => Leased::LocalEntry(stored),
                other => other,
            })
        })
    }

    fn settle<'a>(&'a self, id: &'a str, token: Token, step: Settle) -> Answer<'a, bool> {
        match token.is_local() {
            true => self.locally.settle(id, token, step),
            false => Box::pin(self.ask(id, self.remote.settle(id, token, step))),
        }
    }

    fn change<'a>(&'a self, id: &'a str, change: Change) -> Answer<'a, ()> {
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

    fn inspect<'a>(&'a self, id: &'a str) -> Answer<'a, Seen> {
        Box::pin(self.ask(id, self.remote.inspect(id)))
    }

    fn numbers<'a>(&'a self, question: Question<'a>, budget: &'a mut Budget) -> Answer<'a, Known> {
        if self.deferred.holds_all(self.remote.space()) {
            return Box::pin(std::future::ready(Err(Unavailable)));
        }
        Box::pin(self.known(self.remote.numbers(question, budget), |_| true))
    }

    fn raise<'a>(&'a self, group: &'a Group, own: u64) -> Answer<'a, u64> {
        Box::pin(async move {
            let mark = self.deferred.mark();
            let raised = self.remote.raise(group, own).await;
            match raised {
                Ok(_) => self.deferred.confirm_raise(&self.remote, group, mark),
                Err(Unavailable) => self.deferred.keep_raise(&self.remote, group),
            }
            raised
        })
    }

    fn find<'a>(&'a self, finder: &'a dyn Finder) -> BoxFuture<'a, bool> {
        self.locally.ids(finder.pattern()).iter().for_each(|id| self.overtake(id));
        self.remote.find(finder)
    }

    fn wake_name(&self, id: &str) -> String {
        self.remote.wake_name(id)
    }
}

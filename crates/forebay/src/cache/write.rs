//! What callers change: put, invalidate, expire. Each acts on this process twice, before and after the store.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;

use super::{
    backend::{Change, Unavailable},
    entry::Loaded,
    id::Id,
    inner::Inner,
    seal::Sealed,
    token::Token,
};
use crate::{
    bus::Kind,
    error::{Error, ErrorKind},
    observe::Event,
};

/// How far an invalidation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalidated {
    /// It is done in the store and in this process, and told to the others.
    Everywhere,
    /// It is done in this process; the store has not confirmed it.
    Deferred,
}

/// What became of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The value is stored, or another change has followed it already.
    Stored,
    /// The store has not confirmed it: the value is not stored, what was there is invalidated.
    Deferred,
}

impl<V: Send + Sync + 'static> Inner<V> {
    pub(crate) async fn change(self: &Arc<Self>, id: &str, change: Change) -> Invalidated {
        let (inner, key) = (self.clone(), Id::new(id).key);
        self.overtake(&key, change.kind());
        self.in_own_task(move || {
            let (inner, key, change) = (inner.clone(), key.clone(), change.clone());
            async move {
                match inner.change_behind(&key, change).await {
                    Ok(()) => Invalidated::Everywhere,
                    Err(Unavailable) => Invalidated::Deferred,
                }
            }
        })
        .await
    }

    pub(crate) async fn change_all(
        self: &Arc<Self>,
        ids: impl IntoIterator<Item = impl AsRef<str>>,
        change: Change,
    ) -> Invalidated {
        let changes = ids.into_iter().map(|id| {
            let (inner, change) = (self.clone(), change.clone());
            async move { inner.change(id.as_ref(), change).await }
        });
        let all = join_all(changes).await.iter().all(|done| *done == Invalidated::Everywhere);
        if all { Invalidated::Everywhere } else { Invalidated::Deferred }
    }

    pub(crate) async fn put(self: &Arc<Self>, id: &str, loaded: &Loaded<V>) -> Result<Put, Error> {
        let Some(life) = self.options.life(loaded, &self.shared.context.dice) else {
            return Err(self.refuse("a put needs a life of at least a millisecond and a value to store"));
        };
        let sealed = self.seal(loaded, life, self.shared.context.dice.bits(), Duration::ZERO)?;
        Ok(self.put_sealed(id, sealed).await)
    }

    pub(crate) async fn put_absence(
        self: &Arc<Self>,
        id: &str,
        life: Option<Duration>,
    ) -> Result<Put, Error> {
        let Some(life) = self.options.absence(life) else {
            return Err(self.refuse("an absence needs a life of at least a millisecond; set absent_for"));
        };
        Ok(self.put_sealed(id, self.seal_absence(life)).await)
    }

    async fn put_sealed(self: &Arc<Self>, id: &str, sealed: Sealed) -> Put {
        let (inner, key) = (self.clone(), Id::new(id).key);
        let token = Token::roll(&self.shared.context.dice);
        self.overtake(&key, Kind::Gone);
        self.in_own_task(move || {
            let (inner, key, sealed) = (inner.clone(), key.clone(), sealed.clone());
            async move { inner.put_behind(&key, token, sealed).await }
        })
        .await
    }

    async fn put_behind(&self, key: &str, token: Token, sealed: Sealed) -> Put {
        if self.change_behind(key, Change::Claim(token, self.options.lease)).await.is_err() {
            return Put::Deferred;
        }
        // A refusal means that a later change came in between, as if it had come right behind this put.
        let put = self.backend.settle(key, token, sealed.into_fill()).await;
        self.overtake(key, Kind::Gone);
        put.map_or(Put::Deferred, |_| Put::Stored)
    }

    /// Changes the store behind the first act of a change on this process, and does the second: what was read
    /// before the store's answer may be from before the change.
    async fn change_behind(&self, key: &str, change: Change) -> Result<(), Unavailable> {
        let kind = change.kind();
        let changed = self.backend.change(key, change).await;
        self.overtake(key, kind);
        self.record(Event::Changed { space: self.name.as_str() });
        changed
    }

    /// Runs `work` to its end even if the caller goes away; on the caller where no task can be had any more.
    async fn in_own_task<T, W>(&self, work: impl Fn() -> W) -> T
    where
        T: Send + 'static,
        W: Future<Output = T> + Send + 'static,
    {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let task = work();
        self.shared.context.tasks.spawn(async move {
            // The caller may have left; the change is done all the same.
            drop(answer.send(task.await));
        });
        match answered.await {
            Ok(done) => done,
            Err(_) => work().await,
        }
    }

    pub(crate) fn refuse(&self, why: &str) -> Error {
        Error::new(ErrorKind::Config, format!("cache {}: {why}", self.name))
    }
}

//! What callers change: put, invalidate by id, tag or as a whole, expire. Each acts on this process twice, before and
//! after the store.

use std::{sync::Arc, time::Duration};

use futures::future::{join, join_all};

use super::{
    again::Item,
    backend::{Change, Settle, Unavailable},
    current::Beginning,
    entry::Loaded,
    id::Id,
    inner::Inner,
    numbers::Group,
    seal::Draft,
    token::Token,
};
use crate::{
    bus::Kind,
    error::{Error, ErrorKind},
    key::encode,
    observe::ChangeSource,
};

/// How far an invalidation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalidated {
    /// It is done in the store and in this process, and told to the others.
    Everywhere,
    /// It is done in this process; the store has not confirmed it.
    Deferred,
}

impl Invalidated {
    fn all(done: &[Self]) -> Self {
        if done.contains(&Self::Deferred) { Self::Deferred } else { Self::Everywhere }
    }
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
        let key = Id::new(id).key;
        if let Change::Invalidate = change {
            self.do_again(|| Item::Id(key.clone()));
        }
        let source = change.source();
        self.change_once(key, change, source).await
    }

    /// Makes a change that is not made again, of an encoded id.
    pub(super) async fn change_once(
        self: &Arc<Self>,
        key: Arc<str>,
        change: Change,
        source: ChangeSource,
    ) -> Invalidated {
        let inner = self.clone();
        self.overtake(&key, change.kind());
        self.in_own_task(move || {
            let (inner, key, change) = (inner.clone(), key.clone(), change.clone());
            async move {
                match inner.change_behind(&key, change, source).await {
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
        Invalidated::all(&join_all(changes).await)
    }

    pub(crate) async fn put(self: &Arc<Self>, id: &str, loaded: &Loaded<V>) -> Result<Put, Error> {
        let Some(life) = self.options.life(loaded, &self.shared.context.dice) else {
            return Err(self.refuse("a put needs a life of at least a millisecond and a value to store"));
        };
        let draft = self.draft(loaded, life, self.shared.context.dice.bits(), Duration::ZERO)?;
        Ok(self.put_draft(id, draft).await)
    }

    pub(crate) async fn put_absence(
        self: &Arc<Self>,
        id: &str,
        life: Option<Duration>,
    ) -> Result<Put, Error> {
        let Some(life) = self.options.absence(life) else {
            return Err(self.refuse("an absence needs a life of at least a millisecond; set absent_for"));
        };
        Ok(self.put_draft(id, self.draft_absence(life)).await)
    }

    async fn put_draft(self: &Arc<Self>, id: &str, draft: Draft) -> Put {
        let (inner, key) = (self.clone(), Id::new(id).key);
        let token = Token::roll(&self.shared.context.dice);
        self.overtake(&key, Kind::Gone);
        self.in_own_task(move || {
            let (inner, key, draft) = (inner.clone(), key.clone(), draft.clone());
            async move { inner.put_behind(&key, token, draft).await }
        })
        .await
    }

    async fn put_behind(&self, key: &str, token: Token, draft: Draft) -> Put {
        let mut budget = self.backend.budget();
        let claim = Change::Claim(token, self.options.lease);
        let change = self.change_behind(key, claim, ChangeSource::Put);
        let (begun, claimed) = join(self.begin(None, &mut budget), change).await;
        if claimed.is_err() {
            return Put::Deferred;
        }
        // A refusal means that a later change came in between, as if it had come right behind this put.
        let fill = self.fill_of_put(draft, begun).await;
        let (step, put) = fill.map_or((Settle::Release, Put::Deferred), |fill| (fill, Put::Stored));
        let settled = self.backend.settle(key, token, step).await;
        self.overtake(key, Kind::Gone);
        settled.map_or(Put::Deferred, |_| put)
    }

    async fn fill_of_put(
        &self,
        draft: Draft,
        begun: Result<Beginning, Unavailable>,
    ) -> Result<Settle, Unavailable> {
        let number = begun?.number;
        let current = self.may_fill(&draft.stamp(number), draft.life()).await?;
        Ok(if current { self.seal(draft, number).into_fill() } else { Settle::Release })
    }

    /// Invalidates what has a tag, or the whole space.
    pub(crate) async fn raise(self: &Arc<Self>, group: Group) -> Invalidated {
        self.do_again(|| Item::Group(group.clone()));
        self.raise_once(group).await
    }

    /// Invalidates that, and not again.
    pub(super) async fn raise_once(self: &Arc<Self>, group: Group) -> Invalidated {
        let own = self.numbers.pass(&group);
        let inner = self.clone();
        self.in_own_task(move || {
            let (inner, group) = (inner.clone(), group.clone());
            async move {
                let raised = inner.backend.raise(&group, own).await;
                inner.changed(match &group {
                    Group::Tag(_) => ChangeSource::Tag,
                    Group::Space => ChangeSource::Clear,
                });
                match raised {
                    Ok(to) => {
                        inner.numbers.confirm(&group, own, to);
                        Invalidated::Everywhere
                    }
                    Err(Unavailable) => Invalidated::Deferred,
                }
            }
        })
        .await
    }

    pub(crate) async fn raise_tags(
        self: &Arc<Self>,
        tags: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Invalidated {
        let raises = tags.into_iter().map(|tag| self.raise(Group::Tag(encode(tag.as_ref()).into())));
        Invalidated::all(&join_all(raises).await)
    }

    /// Changes the store behind the first act of a change on this process, and does the second: what was read
    /// before the store's answer may be from before the change.
    async fn change_behind(
        &self,
        key: &str,
        change: Change,
        source: ChangeSource,
    ) -> Result<(), Unavailable> {
        let kind = change.kind();
        let changed = self.backend.change(key, change).await;
        self.overtake(key, kind);
        self.changed(source);
        changed
    }

    /// Runs `work` to its end even if the caller goes away; on the caller where no task can be had any more.
    pub(super) async fn in_own_task<T, W>(&self, work: impl Fn() -> W) -> T
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

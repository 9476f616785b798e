//! What callers change of a cache: a value, several by their tag, or the whole space.

use std::time::Duration;

use super::{
    Cache,
    backend::Change,
    entry::Loaded,
    numbers::Group,
    write::{Invalidated, Put},
};
use crate::error::Error;

impl<V: Send + Sync + 'static> Cache<V> {
    /// Stores `value`. Loads of `id` that are running can no longer store theirs.
    ///
    /// A value that was read from the origin belongs in a load or in [`Lease::fill`]: of two puts the one
    /// that comes last wins, even if it was read first.
    ///
    /// # Errors
    ///
    /// A value that is too large or cannot be encoded; nothing has changed then.
    pub async fn put(&self, id: impl AsRef<str>, value: impl Into<Loaded<V>>) -> Result<Put, Error> {
        self.inner.put(id.as_ref(), &value.into()).await
    }

    /// Remembers for the space's `absent_for` that `id` has no value.
    ///
    /// # Errors
    ///
    /// The space remembers no absences.
    pub async fn put_absent(&self, id: impl AsRef<str>) -> Result<Put, Error> {
        self.inner.put_absence(id.as_ref(), None).await
    }

    /// Remembers for `life` that `id` has no value.
    ///
    /// # Errors
    ///
    /// A life below a millisecond.
    pub async fn put_absent_for(&self, id: impl AsRef<str>, life: Duration) -> Result<Put, Error> {
        self.inner.put_absence(id.as_ref(), Some(life)).await
    }

    /// Forgets the value of `id` everywhere. Loads of it that are running can no longer store theirs.
    ///
    /// Call it once the origin has committed the change. It completes even if the caller goes away.
    pub async fn invalidate(&self, id: impl AsRef<str>) -> Invalidated {
        self.inner.change(id.as_ref(), Change::Invalidate).await
    }

    /// Forgets everywhere all values that were stored with `tag` ([`Loaded::tag`]). What is loaded at the moment serves
    /// only those who asked before this.
    ///
    /// It takes one step, however many values there are. It completes even if the caller goes away.
    pub async fn invalidate_tag(&self, tag: impl AsRef<str>) -> Invalidated {
        self.inner.raise_tags([tag]).await
    }

    /// Forgets the values of several tags.
    pub async fn invalidate_tags(&self, tags: impl IntoIterator<Item = impl AsRef<str>>) -> Invalidated {
        self.inner.raise_tags(tags).await
    }

    /// Forgets everywhere all values of the space, in one step. Each keeps its room in the store until it ends.
    pub async fn clear(&self) -> Invalidated {
        self.inner.raise(Group::Space).await
    }

    /// Makes the value of `id` stale: it is loaded again at the next read, and is still there if that fails.
    pub async fn expire(&self, id: impl AsRef<str>) -> Invalidated {
        self.inner.change(id.as_ref(), Change::Expire).await
    }
}

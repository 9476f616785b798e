//! What callers change of a cache: a value, several by their tag, or the whole space.

use std::time::Duration;

use super::{
    Cache,
    backend::Change,
    entry::Loaded,
    matching::Matched,
    numbers::Group,
    write::{Invalidated, Put},
};
use crate::error::Error;

impl<V: Send + Sync + 'static> Cache<V> {
    /// Stores `value`. Loads of `id` that are running can no longer store theirs.
    ///
    /// A value that was read from the origin belongs in a load or in [`Lease::fill`](super::Lease::fill): of two puts the one
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

    /// Forgets the values of all ids that look like `pattern`: for operators, as it looks at every key of the store. A
    /// [tag](Loaded::tag) takes one step instead.
    ///
    /// As in Redis, `*` stands for any characters, `?` for one, `[a-z_]` for one of these, `[^a]` for one that is not,
    /// and `\` takes the meaning from the character behind it. A character may have several bytes. What is compared is the
    /// whole id, as callers spell it; one that is [longer than 200 bytes](crate::key::encode) is kept under a hash, and
    /// matches nothing.
    ///
    /// What is stored when it begins, or loaded by then, is found, and each id is [invalidated](Cache::invalidate). It goes
    /// through the primaries one after the other, at most 100,000 keys and 2,000 ids a second, and twice: for what is
    /// loaded, then for what is stored. Of two at a time of one space in a process the second is [`Matched::Busy`]. It
    /// completes even if the caller goes away, and ends early at a shutdown.
    ///
    /// It misses what moves with its slot from one node of a cluster to another while it runs, and what other processes
    /// have in their memory although the store has lost it: that ends with its `local_time_to_live`. It is not done
    /// [again](super::Builder::invalidate_again_after).
    ///
    /// # Errors
    ///
    /// A pattern that is empty, longer than 1,000 bytes, or leaves something open.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::time::Duration;
    /// # use forebay::{Forebay, cache::Matched};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// # let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(3600)).build()?;
    /// prices.put("p-001", 12).await?;
    /// prices.put("q-001", 13).await?;
    /// let matched = prices.invalidate_matching("p-*").await?;
    /// assert_eq!(matched, Matched::Done { invalidated: 1, deferred: 0, complete: true });
    /// # Ok(())
    /// # }
    /// ```
    pub async fn invalidate_matching(&self, pattern: &str) -> Result<Matched, Error> {
        self.inner.invalidate_matching(pattern).await
    }

    /// Makes the value of `id` stale: it is loaded again at the next read, and is still there if that fails.
    pub async fn expire(&self, id: impl AsRef<str>) -> Invalidated {
        self.inner.change(id.as_ref(), Change::Expire).await
    }
}

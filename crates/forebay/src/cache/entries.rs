//! Reads that load, answered with the whole entry: the value, how old it is, and where it came from.

use super::{
    Cache,
    caller::{Got, Want},
    entry::{Entry, Load, Loaded},
    error::LoadError,
    leader::Goal,
    loader::{Loader, optional, present},
    verdict::Answer,
};

impl<V: Send + Sync + 'static> Cache<V> {
    /// Returns the value of `id` as [`Cache::get_or_load`] does, with where it came from and how long it will be fresh.
    ///
    /// A value that stands in, because its load failed or takes longer than the space's
    /// [`patience`](super::Builder::patience), is [stale](Entry::is_stale).
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`].
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::{convert::Infallible, time::Duration};
    /// # use forebay::{Forebay, cache::Source};
    /// # let forebay = Forebay::builder("shop").memory().build().await?;
    /// # let prices = forebay.cache::<u64>("catalog:price", Duration::from_secs(3600)).build()?;
    /// let first = prices.entry_or_load("p-001", async |_| Ok::<_, Infallible>(12)).await?;
    /// let second = prices.entry_or_load("p-001", async |_| Ok::<_, Infallible>(12)).await?;
    /// assert_eq!((first.source, second.source), (Source::Loaded, Source::Memory));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn entry_or_load<L, E, F, Fut>(
        &self,
        id: impl AsRef<str>,
        loader: F,
    ) -> Result<Entry<V>, LoadError<E>>
    where
        F: FnOnce(Load<V>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<L, E>> + Send + 'static,
        L: Into<Loaded<V>>,
        E: Send + Sync + 'static,
    {
        self.load(id.as_ref(), present(loader), false).await
    }

    /// Returns the value of `id` as [`Cache::find_or_load`] does, with where it came from and how long it will be fresh.
    ///
    /// # Errors
    ///
    /// As for [`Cache::get_or_load`].
    pub async fn find_entry_or_load<L, E, F, Fut>(
        &self,
        id: impl AsRef<str>,
        loader: F,
    ) -> Result<Option<Entry<V>>, LoadError<E>>
    where
        F: FnOnce(Load<V>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Option<L>, E>> + Send + 'static,
        L: Into<Loaded<V>>,
        E: Send + Sync + 'static,
    {
        self.find(id.as_ref(), optional(loader), false).await
    }

    pub(super) async fn load<E: Send + Sync + 'static>(
        &self,
        id: &str,
        loader: Loader<V>,
        fresh: bool,
    ) -> Result<Entry<V>, LoadError<E>> {
        let want = Want { goal: Goal::Load { loader, absence: false }, fresh, wait: None };
        match self.inner.obtain(id, want).await {
            Ok(Got::Answer(Answer::Present(entry))) => Ok(entry),
            Ok(Got::Filtered) => Err(LoadError::Filtered),
            Ok(_) => Err(LoadError::Overloaded),
            Err(failure) => Err(failure.into_error(self.inner.options.failure_for)),
        }
    }

    pub(super) async fn find<E: Send + Sync + 'static>(
        &self,
        id: &str,
        loader: Loader<V>,
        fresh: bool,
    ) -> Result<Option<Entry<V>>, LoadError<E>> {
        let want = Want { goal: Goal::Load { loader, absence: true }, fresh, wait: None };
        match self.inner.obtain(id, want).await {
            Ok(Got::Answer(Answer::Present(entry))) => Ok(Some(entry)),
            Ok(Got::Answer(Answer::Absent) | Got::Filtered) => Ok(None),
            Ok(_) => Err(LoadError::Overloaded),
            Err(failure) => Err(failure.into_error(self.inner.options.failure_for)),
        }
    }
}

//! Loading ahead what will be asked for: at a bounded pace, and only what is not fresh already.

use std::{fmt, num::NonZeroU32, sync::Arc, time::Duration};

use futures::{future, future::join_all};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::{Cache, entry::Read};

/// How many ids are under way at a time, at most: callers are not to wait behind them.
const AT_A_TIME: usize = 64;

/// How far a warm-up has come, in ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// All there are.
    pub total: usize,
    /// Those that are over: `hits`, `loaded` and `failed` together.
    pub done: usize,
    /// Those that were fresh, or known to have no value.
    pub hits: usize,
    /// Those that were loaded, or found to have no value.
    pub loaded: usize,
    /// Those whose load failed.
    pub failed: usize,
}

/// A warm-up that runs. It ends with the last id, when this is dropped, or when the `Forebay` is shut down.
#[must_use = "a warm-up ends when this is dropped"]
pub struct Warming {
    progress: watch::Receiver<Progress>,
    _task: AbortOnDropHandle<()>,
}

impl Warming {
    /// How far it has come.
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// Waits until it has come further; `None` when it has ended.
    pub async fn next(&mut self) -> Option<Progress> {
        self.progress.changed().await.ok()?;
        Some(*self.progress.borrow_and_update())
    }

    /// Waits for its end. `done` is less than `total` where it was ended before.
    pub async fn end(mut self) -> Progress {
        while self.next().await.is_some() {}
        self.progress()
    }
}

impl fmt::Debug for Warming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warming").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

/// What ids lack that are to be warmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Value,
    /// They have a stale value, which is no answer whatever the space does about such values.
    Freshness,
}

/// Begins to warm `cache`. `load` loads ids, and answers how many of them failed.
pub(super) fn begin<V, F, Fut>(
    cache: Cache<V>,
    ids: Vec<Arc<str>>,
    per_second: NonZeroU32,
    load: F,
) -> Warming
where
    V: Send + Sync + 'static,
    F: Fn(Vec<Arc<str>>, Lack) -> Fut + Send + 'static,
    Fut: Future<Output = usize> + Send,
{
    let (told, progress) = watch::channel(Progress { total: ids.len(), ..Progress::default() });
    let tasks = cache.inner.shared.context.tasks.clone();
    let _task = tasks.spawn_owned(async move {
        let stopping = cache.inner.shared.context.tasks.clone();
        tokio::select! {
            () = run(&cache, &ids, per_second, load, told) => {}
            () = stopping.stopping() => {}
        }
    });
    Warming { progress, _task }
}

async fn run<V, F, Fut>(
    cache: &Cache<V>,
    ids: &[Arc<str>],
    per_second: NonZeroU32,
    load: F,
    told: watch::Sender<Progress>,
) where
    V: Send + Sync + 'static,
    F: Fn(Vec<Arc<str>>, Lack) -> Fut,
    Fut: Future<Output = usize>,
{
    let context = &cache.inner.shared.context;
    let at_a_time = usize::try_from(per_second.get()).unwrap_or(AT_A_TIME).min(AT_A_TIME);
    for some in ids.chunks(at_a_time) {
        let reads = join_all(some.iter().map(|id| cache.read(id))).await;
        let lacking = |lack| some.iter().zip(&reads).filter(move |(_, read)| lacks(read) == Some(lack));
        let ids = |lack| lacking(lack).map(|(id, _)| id.clone()).collect::<Vec<_>>();
        let (missing, stale) = (ids(Lack::Value), ids(Lack::Freshness));
        let count = missing.len() + stale.len();
        let loads = future::join(load(missing, Lack::Value), load(stale, Lack::Freshness));
        let (failed, not_refreshed) = loads.await;
        let failed = failed + not_refreshed;
        told.send_modify(|progress| {
            progress.done += some.len();
            progress.hits += some.len() - count;
            progress.loaded += count - failed;
            progress.failed += failed;
        });
        if progress_is_over(&told) {
            return;
        }
        // Jittered: several processes may have been started together.
        let pause = Duration::from_secs(1).mul_f64(f64::from(u32::try_from(some.len()).unwrap_or(u32::MAX)));
        let jitter = 1.0 + context.dice.swing() / 4.0;
        context.clock.sleep(pause.mul_f64(jitter / f64::from(per_second.get()))).await;
    }
}

fn progress_is_over(told: &watch::Sender<Progress>) -> bool {
    let progress = told.borrow();
    progress.done == progress.total
}

fn lacks<V>(read: &Read<V>) -> Option<Lack> {
    match read {
        Read::Hit(entry) => entry.is_stale().then_some(Lack::Freshness),
        Read::Absent => None,
        Read::Miss => Some(Lack::Value),
    }
}

//! The load: callers who read what is in memory, what is unknown and what is being changed, and who keep count.

use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::cache::Cache;
use tokio::task::JoinSet;

use crate::timing::{pass, timed};

const PAUSE: Duration = Duration::from_millis(3);

/// The callers of one cache.
pub(crate) struct Callers {
    ended: Arc<AtomicBool>,
    tasks: JoinSet<Seen>,
}

/// What callers have noticed.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    reads: u64,
    errors: Vec<String>,
    outdated: Vec<String>,
    slowest: Duration,
}

impl Callers {
    pub(crate) fn begin(cache: &Cache<String>) -> Self {
        let (ended, mut tasks) = (Arc::<AtomicBool>::default(), JoinSet::new());
        tasks.spawn(hot(cache.clone(), ended.clone()));
        for n in 0..3 {
            tasks.spawn(cold(cache.clone(), n, ended.clone()));
            tasks.spawn(changing(cache.clone(), n, ended.clone()));
        }
        Self { ended, tasks }
    }

    pub(crate) async fn end(self) -> Seen {
        self.ended.store(true, SeqCst);
        let all = self.tasks.join_all().await;
        all.into_iter().fold(Seen::default(), Seen::and)
    }
}

impl Seen {
    pub(crate) fn assert_unharmed(&self) {
        assert!(self.errors.is_empty(), "{self}: {:?}", self.errors);
        assert!(self.outdated.is_empty(), "{self}: {:?}", self.outdated);
        assert!(self.reads > 100, "{self}");
    }

    /// Whether no read has taken longer than `most`.
    pub(crate) fn in_time(&self, most: Duration) -> Result<(), String> {
        if self.slowest <= most { Ok(()) } else { Err(self.to_string()) }
    }

    fn and(mut self, other: Self) -> Self {
        self.reads += other.reads;
        self.errors.extend(other.errors);
        self.outdated.extend(other.outdated);
        self.slowest = self.slowest.max(other.slowest);
        self
    }

    /// Reads `id`, of which the origin has at least `least`.
    async fn read(&mut self, cache: &Cache<String>, id: &str, origin: &Arc<AtomicU64>, least: u64) {
        let origin = origin.clone();
        let load = async move |_| Ok::<_, Infallible>(origin.load(SeqCst).to_string());
        let (took, answer) = timed(cache.get_or_load(id, load)).await;
        self.reads += 1;
        self.slowest = self.slowest.max(took);
        match answer {
            Ok(value) if value.parse().is_ok_and(|value: u64| value >= least) => {}
            Ok(value) => self.outdated.push(format!("{id} is {value}, not {least}")),
            Err(error) => self.errors.push(format!("{id}: {error:?}")),
        }
    }
}

/// Reads one key, which is in memory from the first time on.
async fn hot(cache: Cache<String>, ended: Arc<AtomicBool>) -> Seen {
    let (mut seen, origin) = (Seen::default(), Arc::new(AtomicU64::new(1)));
    while !ended.load(SeqCst) {
        seen.read(&cache, "hot", &origin, 1).await;
        pass(PAUSE).await;
    }
    seen
}

/// Reads keys that nobody has read before.
async fn cold(cache: Cache<String>, n: u64, ended: Arc<AtomicBool>) -> Seen {
    let (mut seen, origin) = (Seen::default(), Arc::new(AtomicU64::new(1)));
    while !ended.load(SeqCst) {
        let id = format!("cold-{n}-{}", seen.reads);
        seen.read(&cache, &id, &origin, 1).await;
        pass(PAUSE).await;
    }
    seen
}

/// Changes a key at the origin, invalidates it and reads it back.
async fn changing(cache: Cache<String>, n: u64, ended: Arc<AtomicBool>) -> Seen {
    let (mut seen, origin, id) = (Seen::default(), Arc::new(AtomicU64::new(0)), format!("changing-{n}"));
    while !ended.load(SeqCst) {
        let least = origin.fetch_add(1, SeqCst) + 1;
        cache.invalidate(&id).await;
        seen.read(&cache, &id, &origin, least).await;
        pass(PAUSE).await;
        seen.read(&cache, &id, &origin, least).await;
    }
    seen
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (errors, outdated) = (self.errors.len(), self.outdated.len());
        let Self { reads, slowest, .. } = self;
        write!(f, "{reads} reads, {errors} errors, {outdated} outdated, slowest {slowest:?}")
    }
}

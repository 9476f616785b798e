//! The load on a limiter: callers who ask as fast as they are answered, and keep count of what they are told.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use forebay::{
    Subject,
    limiter::{Decision, Limiter},
};
use tokio::task::JoinSet;

use crate::timing::{pass, timed};

const ASKERS: usize = 8;
const PAUSE: Duration = Duration::from_millis(2);

/// The callers of one limiter, all of one subject and the tier `free`.
pub(crate) struct Askers {
    ended: Arc<AtomicBool>,
    tasks: JoinSet<Told>,
}

/// What callers were told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) allowed: u64,
    pub(crate) denied: u64,
    pub(crate) unavailable: u64,
    spans: Vec<Duration>,
}

impl Askers {
    pub(crate) fn begin(limiter: &Limiter, subject: &Subject) -> Self {
        let (ended, mut tasks) = (Arc::<AtomicBool>::default(), JoinSet::new());
        for _ in 0..ASKERS {
            tasks.spawn(ask(limiter.clone(), subject.clone(), ended.clone()));
        }
        Self { ended, tasks }
    }

    pub(crate) async fn end(self) -> Told {
        self.ended.store(true, SeqCst);
        self.tasks.join_all().await.into_iter().fold(Told::default(), Told::and)
    }
}

async fn ask(limiter: Limiter, subject: Subject, ended: Arc<AtomicBool>) -> Told {
    let mut told = Told::default();
    while !ended.load(SeqCst) {
        told.ask(&limiter, &subject).await;
        pass(PAUSE).await;
    }
    told
}

impl Told {
    /// Asks `n` times, one call after the other.
    pub(crate) async fn of(limiter: &Limiter, subject: &Subject, n: usize) -> Self {
        let mut told = Self::default();
        for _ in 0..n {
            told.ask(limiter, subject).await;
        }
        told
    }

    pub(crate) fn counts(&self) -> [u64; 3] {
        [self.allowed, self.denied, self.unavailable]
    }

    /// What 99 of a hundred calls took at most.
    pub(crate) fn p99(&mut self) -> Duration {
        self.spans.sort_unstable();
        self.spans[self.spans.len() * 99 / 100]
    }

    pub(crate) fn slowest(&self) -> Duration {
        self.spans.iter().max().copied().unwrap_or_default()
    }

    async fn ask(&mut self, limiter: &Limiter, subject: &Subject) {
        let (took, decision) = timed(limiter.check(subject, "free")).await;
        self.spans.push(took);
        let count = match decision {
            Decision::Allowed(_) => &mut self.allowed,
            Decision::Denied { retry_after, .. } if !retry_after.is_zero() => &mut self.denied,
            Decision::Unavailable { retry_after } if !retry_after.is_zero() => &mut self.unavailable,
            other => panic!("a call of one is told {other:?}"),
        };
        *count += 1;
    }

    fn and(mut self, other: Self) -> Self {
        self.allowed += other.allowed;
        self.denied += other.denied;
        self.unavailable += other.unavailable;
        self.spans.extend(other.spans);
        self
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allowed, denied, unavailable, .. } = self;
        write!(f, "{allowed} allowed, {denied} denied, {unavailable} unavailable")
    }
}

//! Who locks.

use std::sync::Arc;

use contest::Lock;
use ours::{End, Locker};
use peer_rslock::RsLock;
use programs::Program;

use super::Place;

/// So many processes are over one Redis where there are several.
const PROCESSES: usize = 4;

/// Forebay in several processes.
pub(super) const SPREAD: &str = "the same in four processes";

/// All contestants.
pub(super) struct Contestants {
    pub(super) all: Vec<Contestant>,
    /// Why one is missing.
    pub(super) missing: Option<String>,
}

/// A contestant: the processes of a crate, whose tasks run here, or a program of its own.
pub(super) enum Contestant {
    Crate { name: &'static str, processes: Vec<Arc<dyn Lock>> },
    Program(Program),
}

impl Contestants {
    /// Forebay in one process, and in several.
    pub(super) fn start(place: &Place) -> Self {
        let process = || Arc::new(Locker::new(&place.runtime, &place.redis.url(), End::Release)) as _;
        let processes = std::iter::repeat_with(process).take(PROCESSES).collect();
        Self::beside(place, vec![Contestant::one(process()), Contestant::Crate { name: SPREAD, processes }])
    }

    /// Forebay in one process, with either way to let go of a lock.
    pub(super) fn start_alone(place: &Place) -> Self {
        let locker = |end| Contestant::one(Arc::new(Locker::new(&place.runtime, &place.redis.url(), end)));
        Self::beside(place, vec![locker(End::Release), locker(End::Drop)])
    }

    fn beside(place: &Place, ours: Vec<Contestant>) -> Self {
        let url = place.redis.url();
        let (program, missing) = match programs::REDIS_LOCK.start(&url, &[]) {
            Ok(program) => (Some(Contestant::Program(program)), None),
            Err(error) => (None, Some(format!("{} ({error:#})", programs::REDIS_LOCK.name))),
        };
        let rslock = Contestant::one(Arc::new(RsLock::new(&url)));
        let all = ours.into_iter().chain([rslock]).chain(program).collect();
        Self { all, missing }
    }
}

impl Contestant {
    fn one(process: Arc<dyn Lock>) -> Self {
        Self::Crate { name: process.name(), processes: vec![process] }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Crate { name, .. } => name,
            Self::Program(program) => program.name,
        }
    }

    /// Whether it is a library that a service could take instead.
    pub(super) fn is_peer(&self) -> bool {
        ![Locker::RELEASES, Locker::DROPS, SPREAD].contains(&self.name())
    }
}

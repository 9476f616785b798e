//! Who locks.

use std::sync::Arc;

use contest::Lock;
use peer_rslock::RsLock;

use super::Place;
use crate::programs::{self, Program};

/// So many processes are over one Redis where there are several.
const PROCESSES: usize = 4;

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
    pub(super) fn start(place: &Place) -> Self {
        let url = place.redis.url();
        let mut all = vec![Contestant::new(RsLock::new(&url))];
        let (program, missing) = match programs::REDIS_LOCK.start(&url, &[]) {
            Ok(program) => (Some(program), None),
            Err(error) => (None, Some(format!("{} ({error:#})", programs::REDIS_LOCK.name))),
        };
        all.extend(program.map(Contestant::Program));
        Self { all, missing }
    }
}

impl Contestant {
    fn new(lock: impl Lock + 'static) -> Self {
        Self::Crate { name: lock.name(), processes: vec![Arc::new(lock)] }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Crate { name, .. } => name,
            Self::Program(program) => program.name,
        }
    }
}

//! A number of tasks that check as fast as they can, over one contestant after the other.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use contest::{Check, Windows};
use forebay_rig::Redis;
use ours::limits::{Limits, MODES};
use peer_by_hand::{OneCommand, SortedSet};
use peer_tower_rate_tier::TowerRateTier;
use peer_trypema::Trypema;
use tally::rounds::{Samples, Side, play};
use tokio::runtime::Runtime;

use super::{Effort, program::Program};
use crate::steps::{self, Work};

/// How often a contestant checks before it is known how fast it is.
const FIRST: usize = 2_000;

/// The contestant that does the least that a script can do.
pub(super) fn floor() -> &'static str {
    peer_by_hand::ONE_COMMAND
}

/// The snippet that services copy.
pub(super) fn by_hand() -> &'static str {
    peer_by_hand::SORTED_SET
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) windows: Windows,
    pub(super) tasks: usize,
    pub(super) played: Vec<Samples<Sample>>,
    /// Why contestants are missing.
    pub(super) missing: Vec<String>,
}

/// One contestant in one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) per_second: f64,
    /// The time that scripts take the server for one check.
    pub(super) server: Duration,
    /// How often the server reads from a connection for one check.
    pub(super) reads: f64,
}

/// A contestant: a crate, whose tasks run here, or a program of its own.
enum Contestant {
    Crate(Arc<dyn Check>),
    Program(Program),
}

/// Where they are measured.
struct Place {
    runtime: Runtime,
    redis: Redis,
    subjects: Arc<[String]>,
    tasks: usize,
    span: Duration,
}

pub(super) fn run(windows: Windows, tasks: usize, effort: &Effort) -> Result<Load> {
    let place = Place {
        runtime: tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?,
        redis: Redis::start(),
        subjects: contest::subjects().into(),
        tasks,
        span: effort.span,
    };
    let mut contestants: Vec<_> = crates(&place, windows).into_iter().map(Contestant::Crate).collect();
    let mut missing = Vec::new();
    for source in programs::LIMITERS {
        match Program::start(source, &place.redis.url(), place.subjects.len(), windows) {
            Ok(program) => contestants.push(Contestant::Program(program)),
            Err(error) => missing.push(format!("{} ({error:#})", source.name)),
        }
    }
    let place = &place;
    let sides = contestants.iter_mut().map(|contestant| {
        let mut checks = FIRST;
        Side::new(contestant.name(), move || {
            let sample = place.measure(contestant, checks).expect("a contestant that has started goes on");
            checks = place.checks_within_span(sample.per_second);
            sample
        })
    });
    let played = play(sides.collect(), effort.rounds);
    Ok(Load { windows, tasks, played, missing })
}

fn crates(place: &Place, windows: Windows) -> Vec<Arc<dyn Check>> {
    let (runtime, url) = (&place.runtime, &place.redis.url());
    let ours = MODES.map(|mode| Arc::new(Limits::new(runtime, url, mode, windows)) as _);
    let peers: [Arc<dyn Check>; 4] = [
        Arc::new(OneCommand::new(runtime, url)),
        Arc::new(SortedSet::new(runtime, url, windows)),
        Arc::new(TowerRateTier::new(runtime, url, windows)),
        Arc::new(Trypema::new(runtime, url, windows)),
    ];
    ours.into_iter().chain(peers).collect()
}

impl Contestant {
    fn name(&self) -> &'static str {
        match self {
            Self::Crate(check) => check.name(),
            Self::Program(program) => program.name(),
        }
    }
}

impl Place {
    fn measure(&self, contestant: &mut Contestant, checks: usize) -> Result<Sample> {
        let (scripts, reads) = (self.redis.script_time(), self.redis.reads());
        let per_second = match contestant {
            Contestant::Crate(check) => self.checks_per_second(check, checks),
            Contestant::Program(program) => program.measure(self.tasks, checks)?,
        };
        // The question is read, too, and so is the end of the one before.
        let reads = self.redis.reads() - reads - 2;
        let server = (self.redis.script_time() - scripts).div_f64(checks as f64);
        Ok(Sample { per_second, server, reads: reads as f64 / checks as f64 })
    }

    fn checks_per_second(&self, check: &Arc<dyn Check>, checks: usize) -> f64 {
        let (check, subjects) = (check.clone(), self.subjects.clone());
        let work: Work = Arc::new(move |number| check.check(subjects[number % subjects.len()].clone()));
        steps::per_second(&self.runtime, self.tasks, 0..checks, &work)
    }

    fn checks_within_span(&self, per_second: f64) -> usize {
        steps::within(self.span, per_second).max(self.tasks)
    }
}
